import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebhookSubscriptionService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { Database } from '../../../services/platform/database/database.ts';
import { createEgressGuard } from '../../../services/platform/egress/egress-guard.ts';
import { DeliveryHandover } from '../../../services/platform/outbox/delivery-handover.ts';
import { OutboxSignal } from '../../../services/platform/outbox/outbox-signal.ts';
import { WorkSignal } from '../../../services/platform/outbox/work-signal.ts';
import { PersonCheck } from '../../../services/platform/people/person-check.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { Exports } from '../../../services/platform/reads/exports.ts';
import { Pagination } from '../../../services/platform/reads/pagination.ts';
import { createInProcessTransport } from '../../../services/platform/rpc/in-process-transport.ts';
import { rpcInterceptors } from '../../../services/platform/rpc/interceptors.ts';
import { Writes } from '../../../services/platform/writes/writes.ts';
import { webhooksArea } from '../../../services/webhooks/webhooks.area.ts';
import { expectRefusal } from '../../support/expect-refusal.ts';
import { ALL_GRANTS, createTestDatabase, newKey, newTenant, testConfig } from '../../support/harness.ts';

const names = new Map<string, () => Promise<string[]>>();
const asked: string[] = [];
const dnsLookup = async (name: string) => {
  asked.push(name);
  const answer = names.get(name);
  if (!answer) throw new Error('NXDOMAIN');
  return answer();
};

let database: Database;
let client: ReturnType<typeof createClient<typeof WebhookSubscriptionService>>;
beforeAll(async () => {
  const config = testConfig();
  const area = webhooksArea(({ WEBHOOK_ALLOWED_PORTS: allowedPorts }) => {
    const guard = createEgressGuard({ allowedPorts }, { dnsLookup });
    return { live: guard, test: guard };
  });
  const url = await createTestDatabase();
  database = await Database.open({ url, poolSize: 5, preparedStatements: true, entities: area.entities });
  const logger = createLogger('fatal');
  const outboxSignal = new OutboxSignal(database);
  const interceptors = rpcInterceptors(logger);
  const transport = createInProcessTransport([], interceptors, { name: 'none', grants: new Set() });
  const writes = new Writes(
    database,
    outboxSignal,
    new PersonCheck(database, config.DASHBOARD_SESSION_IDLE),
    logger,
  );
  const bindings = area.bind({
    config,
    database,
    logger,
    outboxSignal,
    transport,
    deliveryHandover: new DeliveryHandover(),
    workSignal: new WorkSignal({ database, outboxSignal, logger }),
    writes,
    exports: new Exports(database, writes),
    pagination: new Pagination(config.CURSOR_KEYS),
    stopping: new AbortController().signal,
  });
  const caller = { name: 'test', grants: new Set(ALL_GRANTS) };
  client = createClient(WebhookSubscriptionService, createInProcessTransport(bindings, interceptors, caller));
});
afterAll(() => database.close());

const create = (host: string, idempotencyKey = newKey(), tenant = newTenant()) =>
  client.createWebhookSubscription({
    ...tenant,
    idempotencyKey,
    url: `https://${host}/hook`,
    eventTypes: ['payment.succeeded.v1'],
  });

describe('the host of a webhook URL', () => {
  it('is refused if any of its addresses is not public, without naming the address', async () => {
    names.set('mixed.example.com', async () => ['93.184.215.14', '10.11.12.13']);
    const refused = create('mixed.example.com');
    await expectRefusal(refused, Code.InvalidArgument, 'INVALID_WEBHOOK_URL', { field: 'url' });
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(String(ConnectError.from(error).rawMessage)).not.toMatch(/\d+\.\d+\.\d+/);
  });

  it('is accepted if it does not resolve yet, or not within a second', async () => {
    await expect(create('not-yet.example.com')).resolves.toBeDefined();
    names.set('silent.example.com', () => new Promise(() => undefined));
    const startedAt = performance.now();
    await expect(create('silent.example.com')).resolves.toBeDefined();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  it('is not resolved again for a repeated key', async () => {
    names.set('moving.example.com', async () => ['93.184.215.14']);
    const [key, tenant] = [newKey(), newTenant()];
    const first = await create('moving.example.com', key, tenant);
    names.set('moving.example.com', async () => ['127.0.0.1']);
    expect(await create('moving.example.com', key, tenant)).toEqual(first);
    expect(asked.filter((name) => name === 'moving.example.com')).toHaveLength(1);
    await expectRefusal(create('moving.example.com'), Code.InvalidArgument, 'INVALID_WEBHOOK_URL');
  });

  it('is the same with and without a final dot', async () => {
    const tenant = newTenant();
    await create('same.example.com', newKey(), tenant);
    const again = create('SAME.example.com.', newKey(), tenant);
    await expectRefusal(again, Code.AlreadyExists, 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS');
  });
});
