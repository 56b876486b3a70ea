import pg from 'pg';
import { afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { WorkflowCommandKind } from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDelivery from '../../../services/contracts/webhooks/retry-delivery.contract.ts';
import { Database } from '../../../services/platform/database/database.ts';
import { PeriodicTasks } from '../../../services/platform/process/periodic-tasks.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { disabledBacklogs } from '../../../services/webhooks/subscriptions/cancel-backlog.ts';
import {
  createTestDatabase,
  emptyDatabase,
  newKey,
  newTenant,
  startHarness,
  type TestHarness,
} from '../../support/harness.ts';
import { answered, type TestTenant, type WebhooksFixture, webhooksFixture } from './webhooks-fixture.ts';

const BACKLOG = 2_500;

let databaseUrl: string;
let harness: TestHarness;
let fixture: WebhooksFixture;
beforeAll(async () => {
  databaseUrl = await createTestDatabase();
});
beforeEach(async () => {
  await emptyDatabase(databaseUrl);
  harness = await startHarness({ SERVICES: 'webhooks' }, undefined, databaseUrl);
  fixture = webhooksFixture(harness, harness.transports.inProcess);
});
afterEach(() => harness.close());

/** A subscription with one delivery in a batch, one in a retry workflow, and thousands that are held. */
async function withBacklog(tenant: TestTenant) {
  const { id } = await fixture.subscribe(tenant);
  await fixture.claimKeys();
  await fixture.publish(tenant);
  const [retried] = await fixture.claimKeys();
  await fixture.report(answered(retried!.deliveryId, await fixture.send(retried!), 500));
  await fixture.publish(tenant);
  const [batched] = await fixture.claimKeys();
  await fixture.sql(
    `insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, next_attempt_at)
     select d.merchant_id, d.environment, uuidv7(), d.subscription_id, d.event_id, d.event_type, d.object_id,
            d.sequence, d.request_id, false, 'HELD', 1, now()
       from webhooks.open_delivery d cross join generate_series(1, $2::int) as n
      where d.id = $1`,
    [batched!.deliveryId, BACKLOG],
  );
  await fixture.sql('update webhooks.subscription set holding = true where id = $1', [id]);
  const request = () => ({ ...tenant, subscriptionId: id, idempotencyKey: newKey() });
  return { id, retried: { deliveryId: retried!.deliveryId }, batched: batched!, request };
}

const openOf = async (subscriptionId: string) =>
  (await fixture.sql('select id from webhooks.open_delivery where subscription_id = $1', [subscriptionId]))
    .length;

/** As a process leaves it that dies once the first transaction of a disabling has committed. */
const disabledOver = (subscriptionId: string) =>
  fixture.sql(
    `update webhooks.subscription
        set state = 'DISABLED', disabled_at = now(), generation = generation + 1, holding = false
      where id = $1`,
    [subscriptionId],
  );

it('cancels thousands before the response, including their retry workflows', async () => {
  const { id, retried, request } = await withBacklog(newTenant());
  await fixture.subscriptions.disableWebhookSubscription(request());
  expect(await openOf(id)).toBe(0);
  const canceled = await fixture.sql(
    `select from webhooks.ended_delivery where subscription_id = $1 and status = 'CANCELED'`,
    [id],
  );
  expect(canceled).toHaveLength(BACKLOG + 3);
  expect(await fixture.claimCommands()).toMatchObject([
    { kind: WorkflowCommandKind.CANCEL, workflowId: retryDelivery.workflowId(retried.deliveryId) },
  ]);
});

it('does not block the subscription while the rest is canceled', async () => {
  const tenant = newTenant();
  const { id, request } = await withBacklog(tenant);
  const holder = new pg.Client({ connectionString: harness.databaseUrl });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query(
    'select from webhooks.open_delivery where subscription_id = $1 order by id desc limit 1 for update',
    [id],
  );
  const disabling = fixture.subscriptions.disableWebhookSubscription(request());
  await expect.poll(() => openOf(id), { timeout: 40_000 }).toBeLessThan(BACKLOG / 2);
  const { state } = (await fixture.subscriptions.getWebhookSubscription({ ...tenant, subscriptionId: id }))
    .subscription!;
  expect(state).toBe(WebhookSubscriptionState.DISABLED);
  await fixture.sql('select from webhooks.subscription where id = $1 for update nowait', [id]);
  await holder.query('rollback');
  await disabling;
  expect(await openOf(id)).toBe(0);
});

it('sends nothing that a killed process left open, and the periodic task cancels it', async () => {
  const { id, retried, batched } = await withBacklog(newTenant());
  await fixture.sql('update webhooks.open_delivery set next_attempt_at = now() where id = $1', [
    retried.deliveryId,
  ]);
  await disabledOver(id);
  const canceled = { case: 'skip', value: { status: DeliveryStatus.CANCELED } };
  expect(await fixture.ask([batched, retried])).toMatchObject([canceled, canceled]);
  const database = await Database.open({
    ...{ url: harness.databaseUrl, poolSize: 2, preparedStatements: true, entities: [] },
  });
  const periodicTasks = new PeriodicTasks({
    database,
    logger: createLogger('fatal'),
    tasks: [{ ...disabledBacklogs, intervalMs: 20 }],
  });
  periodicTasks.start();
  onTestFinished(async () => {
    await periodicTasks.close();
    await database.close();
  });
  await expect.poll(() => openOf(id), { timeout: 40_000 }).toBe(0);
  expect(await fixture.claimCommands()).toMatchObject([
    { kind: WorkflowCommandKind.CANCEL, workflowId: retryDelivery.workflowId(retried.deliveryId) },
  ]);
});

it('cancels what was left open before it reactivates', async () => {
  const { id, request } = await withBacklog(newTenant());
  await disabledOver(id);
  await fixture.subscriptions.reactivateWebhookSubscription(request());
  expect(await openOf(id)).toBe(0);
  expect(await fixture.claimKeys()).toHaveLength(1);
});
