import { Code, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  AttemptFailure,
  DeliveryService,
  DeliveryStatus,
  DispatchService,
  WebhookSubscriptionService,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { OutboxSignal } from '../../../../services/platform/outbox/outbox-signal.ts';
import { PersonCheck } from '../../../../services/platform/people/person-check.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { Exports } from '../../../../services/platform/reads/exports.ts';
import { Pagination } from '../../../../services/platform/reads/pagination.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { createInProcessTransport } from '../../../../services/platform/rpc/in-process-transport.ts';
import { rpcInterceptors } from '../../../../services/platform/rpc/interceptors.ts';
import { Writes } from '../../../../services/platform/writes/writes.ts';
import { webhooksArea } from '../../../../services/webhooks/webhooks.area.ts';
import { startConnectProxy } from '../../../support/connect-proxy.ts';
import { type DnsAnswer, startDnsResponder } from '../../../support/dns-responder.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import {
  createTestDatabase,
  newKey,
  newTenant,
  type TestTenant,
  testConfig,
} from '../../../support/harness.ts';
import { createLoopbackGuard } from '../../../support/loopback-guard.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { startReceiver } from '../../../support/tls-receiver.ts';
import { deliverWaiting } from './deliver-waiting.ts';

// The guard as in live: nothing is exempt, and names are looked up in DNS.
const LIVE = { allowCidrs: [] };
const PUBLIC = ['93.184.215.14', '2606:2800:21f::1'];

let answer: DnsAnswer;
// An hour to live: if a delivery used the answer of the creation, that would show.
const dns = await startDnsResponder(() => answer, 3_600);
const receiver = await startReceiver();
const guard = createLoopbackGuard({ ...LIVE, dnsServers: [dns.server] });
const config = testConfig();
const area = webhooksArea(() => ({ live: guard, test: guard }));
const databaseUrl = await createTestDatabase();
const database = await openDatabase(databaseUrl, { poolSize: 5, entities: area.entities });
const logger = createLogger('fatal');
const outboxSignal = new OutboxSignal(database, logger);
const interceptors = rpcInterceptors(logger);
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
  transport: createInProcessTransport([], interceptors, { name: 'none', grants: new Set() }),
  writes,
  exports: new Exports(database, writes),
  pagination: new Pagination(database, config.CURSOR_KEYS),
  stopping: new AbortController().signal,
});
const transport = createInProcessTransport(bindings, interceptors, {
  name: 'test',
  grants: new Set(ALL_GRANTS),
});
afterAll(async () => {
  await guard.close();
  await database.close();
  await receiver[Symbol.asyncDispose]();
  await dns[Symbol.asyncDispose]();
});
afterEach(() => {
  expect(receiver.connections).toEqual([]);
});

let names = 0;

const create = (tenant: TestTenant, host: string, idempotencyKey = newKey(), { port } = receiver) =>
  createClient(WebhookSubscriptionService, transport).createWebhookSubscription({
    ...tenant,
    idempotencyKey,
    url: `https://${host}:${port}/`,
    eventTypes: ['payment.succeeded.v1'],
  });

/** Subscribes a new name while DNS gives one answer, and pings it while DNS gives another. */
async function subscribeThenDeliver(atCreation: DnsAnswer, atConnection: DnsAnswer, sender = guard) {
  const tenant = newTenant();
  answer = atCreation;
  await create(tenant, `hooks-${++names}.example.com`);
  answer = atConnection;
  await deliverWaiting({ config, databaseUrl }, { live: sender, test: sender });
  const deliveries = createClient(DeliveryService, transport);
  const [delivery] = (await deliveries.listDeliveries(tenant)).deliveries;
  return (await deliveries.getDelivery({ ...tenant, deliveryId: delivery!.id })).attempts;
}

/** Answers of DNS; address-policy.test.ts has the other addresses. */
const REBOUND: readonly (readonly [string, DnsAnswer])[] = [
  ['loopback', ['127.0.0.1']],
  ['one private address among public ones', [...PUBLIC, '10.0.0.1']],
  ['one private address of the other family', ['93.184.215.14', 'fd00::1']],
  [
    'a chain of aliases that ends at public and private addresses',
    { aliases: ['a.example.net', 'b.example.net'], addresses: [...PUBLIC, '192.168.0.1'] },
  ],
];

describe('a name that was public at creation', () => {
  it.each(REBOUND)('is not dialed once it is rebound to %s', async (_where, rebound) => {
    const attempts = await subscribeThenDeliver(PUBLIC, rebound);
    expect(attempts).toMatchObject([{ failure: AttemptFailure.EGRESS_DENIED }]);
  });

  it.each(REBOUND)('is rejected at creation if it is rebound to %s by then', async (_where, bound) => {
    await expect(subscribeThenDeliver(bound, bound)).rejects.toThrow('on the public internet');
  });

  it('is not dialed if it did not resolve at creation and is private at connection', async () => {
    const attempts = await subscribeThenDeliver('NXDOMAIN', ['127.0.0.1']);
    expect(attempts).toMatchObject([{ failure: AttemptFailure.EGRESS_DENIED }]);
  });

  it('has no address if its aliases lead nowhere', async () => {
    const attempts = await subscribeThenDeliver(PUBLIC, { aliases: ['db.internal'], addresses: [] });
    expect(attempts).toMatchObject([{ failure: AttemptFailure.DNS }]);
  });

  it('is never sent to an egress proxy once it is private; before, only its address is', async () => {
    await using proxy = await startConnectProxy({ refuseWith: 403 });
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    await using proxied = createLoopbackGuard({ ...LIVE, dnsServers: [dns.server], proxyUrl });
    const chain = { aliases: ['cdn.example.net'], addresses: ['93.184.215.14'] };
    await subscribeThenDeliver(PUBLIC, chain, proxied);
    expect(proxy.targets).toEqual([`93.184.215.14:${receiver.port}`]);
    const attempts = await subscribeThenDeliver(PUBLIC, ['127.0.0.1'], proxied);
    expect(attempts).toMatchObject([{ failure: AttemptFailure.EGRESS_DENIED }]);
    expect(proxy.targets).toHaveLength(1);
  });

  it('is not resolved again for a creation that is repeated with its key', async () => {
    const [tenant, key] = [newTenant(), newKey()];
    answer = PUBLIC;
    const first = await create(tenant, 'moving.example.com', key);
    answer = ['127.0.0.1'];
    expect(await create(tenant, 'moving.example.com', key)).toEqual(first);
    const anew = create(newTenant(), 'again.example.com');
    await expectRefusal(anew, Code.InvalidArgument, 'INVALID_WEBHOOK_URL', { field: 'url' });
    await expect(anew).rejects.not.toThrow('127.0.0.1');
  });
});

it('a name that does not resolve gets its delivery with a retry, once it does', async () => {
  await using endpoint = await startReceiver();
  await using sender = createLoopbackGuard({ dnsServers: [dns.server] });
  const guards = { live: sender, test: sender };
  const tenant = newTenant();
  answer = 'NXDOMAIN';
  await create(tenant, 'hooks.example.com', newKey(), endpoint);
  await deliverWaiting({ config, databaseUrl }, guards);
  const deliveries = createClient(DeliveryService, transport);
  const [waiting] = (await deliveries.listDeliveries(tenant)).deliveries;
  expect(waiting).toMatchObject({ status: DeliveryStatus.RETRYING, attemptCount: 1 });
  answer = ['127.0.0.1'];
  const deliveryId = waiting!.id;
  await createClient(DispatchService, transport).requestAttempt({ deliveryId, now: true });
  await deliverWaiting({ config, databaseUrl }, guards);
  const { delivery, attempts } = await deliveries.getDelivery({ ...tenant, deliveryId });
  expect(delivery!.status).toBe(DeliveryStatus.SUCCEEDED);
  expect(attempts).toMatchObject([{ failure: AttemptFailure.DNS }, { httpStatus: 204 }]);
  expect(endpoint.requests).toHaveLength(1);
});
