import { expect, it, onTestFinished } from 'vitest';
import { WorkflowCommandKind } from '../../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { WebhookSubscriptionState } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDelivery from '../../../../services/contracts/webhooks/retry-delivery.contract.ts';
import { CrossTenantDatabase } from '../../../../services/platform/database/cross-tenant-database.ts';
import { PeriodicTasks } from '../../../../services/platform/process/periodic-tasks.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import {
  FIND_BLOCKED,
  type OrderedObjectRow,
  Unblocker,
} from '../../../../services/webhooks/deliveries/ordered-deliveries.ts';
import { LaneDispatcher } from '../../../../services/webhooks/lanes/lane-dispatcher.ts';
import { LaneReading } from '../../../../services/webhooks/lanes/lane-reading.ts';
import type { OpenAttempts } from '../../../../services/webhooks/lanes/open-attempts.ts';
import { TableReads } from '../../../../services/webhooks/lanes/table-reads.ts';
import { disabledBacklogs } from '../../../../services/webhooks/subscriptions/disabled-backlogs.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { openSession } from '../../../support/sql.ts';
import { ALL_LANES, answered, startWebhooks } from '../attempts/attempts-fixture.ts';

/** More than one step. */
const BACKLOG = 1_200;

const { harness, fixture, attempts } = await startWebhooks();

/** A subscription with one delivery queued, one in a retry workflow, and many that are held. */
async function withBacklog(tenant: TestTenant) {
  const { id } = await fixture.subscribe(tenant);
  await fixture.publish(tenant);
  const [, retried] = await attempts.due(tenant.merchantId);
  await attempts.record(answered(retried!, 500));
  await fixture.publish(tenant);
  const queued = (await attempts.due(tenant.merchantId)).at(-1)!;
  await fixture.sql(
    `insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, next_attempt_at)
     select d.merchant_id, d.environment, uuidv7(), d.subscription_id, d.lane, d.event_id, d.event_type, d.object_id,
            d.sequence, d.request_id, false, 'HELD', 1, now()
       from webhooks.open_delivery d cross join generate_series(1, $2::int) as n
      where d.id = $1`,
    [queued.deliveryId, BACKLOG],
  );
  await fixture.sql('update webhooks.subscription set holding = true where id = $1', [id]);
  const request = () => ({ ...newWrite(tenant), subscriptionId: id });
  return { id, workflowId: retryDelivery.workflowId(retried!.deliveryId), request };
}

const openOf = async (subscriptionId: string) =>
  (await fixture.sql('select id from webhooks.open_delivery where subscription_id = $1', [subscriptionId]))
    .length;

const cancellationsOf = async (workflowId: string) =>
  (await fixture.claimCommands()).filter(
    (command) => command.kind === WorkflowCommandKind.CANCEL && command.workflowId === workflowId,
  );

/** The state left by a process that dies after the first transaction of a disabling. */
const disabledOver = (subscriptionId: string) =>
  fixture.sql(
    `update webhooks.subscription
        set state = 'DISABLED', disabled_at = now(), disabled_position = 1, generation = generation + 1, holding = false
      where id = $1`,
    [subscriptionId],
  );

it('cancels everything before the response, in steps of a thousand, including their retry workflows', async () => {
  const { id, workflowId, request } = await withBacklog(newTenant());
  await fixture.subscriptions.disableWebhookSubscription(request());
  expect(await openOf(id)).toBe(0);
  const canceled = await fixture.sql(
    `select from webhooks.ended_delivery where subscription_id = $1 and status = 'CANCELED'`,
    [id],
  );
  expect(canceled).toHaveLength(BACKLOG + 3);
  expect(await cancellationsOf(workflowId)).toHaveLength(1);
});

it('does not block the subscription while the rest is canceled', async () => {
  const tenant = newTenant();
  const { id, request } = await withBacklog(tenant);
  await using holder = await openSession(harness.databaseUrl);
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

it('is finished by the periodic task if its process dies', async () => {
  const { id, workflowId } = await withBacklog(newTenant());
  await disabledOver(id);
  const database = await openDatabase(harness.databaseUrl);
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
  expect(await cancellationsOf(workflowId)).toHaveLength(1);
});

it('is not unblocked by the owner of its lane', async () => {
  const { id } = await withBacklog(newTenant());
  await fixture.sql('update webhooks.subscription set ordered = true where id = $1', [id]);
  await fixture.sql(
    `update webhooks.open_delivery set ordered = true, status = 'BLOCKED', object_id = id::text where subscription_id = $1`,
    [id],
  );
  const database = await openDatabase(harness.databaseUrl);
  onTestFinished(() => database.close());
  const blocked = async () => {
    const { run } = new CrossTenantDatabase(database);
    const objects = await run<OrderedObjectRow>(FIND_BLOCKED, { lanes: ALL_LANES });
    return objects.filter(({ subscription_id }) => subscription_id === id).length;
  };
  expect(await blocked()).toBe(BACKLOG + 3);
  await disabledOver(id);
  expect(await blocked()).toBe(0);
});

/** The reading of a process that owns all lanes until it loses them. */
async function readingAll() {
  const database = await openDatabase(harness.databaseUrl);
  onTestFinished(() => database.close());
  const db = new CrossTenantDatabase(database);
  const logger = createLogger('fatal');
  const reads = new TableReads();
  const owner = { ownsLanes: true };
  const leases = { lanes: ALL_LANES, epochOf: () => (owner.ownsLanes ? 1n : undefined), isConfirmed: false };
  const dispatcher: LaneDispatcher = new LaneDispatcher({
    leases,
    reads,
    attempts: { isFull: false } as OpenAttempts,
    subscriptionOf: (subscriptionId) => reading.subscriptions.get(subscriptionId),
    firstWaits: { live: 0, test: 0 },
    onNeedsMore: (subscriptionId) => void reading.readMore(subscriptionId),
  });
  const reading = await LaneReading.begin({
    db,
    keys: harness.config.WEBHOOK_SECRET_KEYS,
    leases,
    dispatcher,
    reports: { setAsideIds: [] },
    reads,
    unblocker: new Unblocker(db.run, logger),
    logger,
  });
  onTestFinished(() => reading.close());
  reading.addLanes(ALL_LANES);
  await reading.readNew();
  return { reading, dispatcher, owner };
}

it('is not kept in memory by the owner of its lane', async () => {
  const { id } = await withBacklog(newTenant());
  await fixture.sql(`update webhooks.open_delivery set status = 'PENDING' where subscription_id = $1`, [id]);
  await disabledOver(id);
  const { reading, dispatcher } = await readingAll();
  // Everything that was read is known to the queue of the subscription.
  await expect.poll(() => dispatcher.queueOf(id).isIdle).toBe(true);
  await fixture.sql(
    `update webhooks.open_delivery set changed_xid = pg_current_xact_id()
      where id = (select id from webhooks.open_delivery where subscription_id = $1 limit 1)`,
    [id],
  );
  await reading.readNew();
  expect(dispatcher.queueOf(id).isIdle).toBe(false);
  await reading.refresh();
  expect(dispatcher.queueOf(id).isIdle).toBe(true);
});

it('is forgotten by a process that has lost its lane, also when the process reads anew', async () => {
  const { id } = await withBacklog(newTenant());
  const { dispatcher, owner } = await readingAll();
  owner.ownsLanes = false;
  dispatcher.dropLost();
  dispatcher.changed(dispatcher.subscriptionIds);
  await expect.poll(() => dispatcher.queueOf(id).isIdle).toBe(true);
});

it('cancels what was left open before it reactivates', async () => {
  const { id, request } = await withBacklog(newTenant());
  await disabledOver(id);
  await fixture.subscriptions.reactivateWebhookSubscription(request());
  // The new ping.
  expect(await openOf(id)).toBe(1);
});
