import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { CrossTenantDatabase } from '../../../../services/platform/database/cross-tenant-database.ts';
import type { Database } from '../../../../services/platform/database/database.ts';
import { PeriodicTasks } from '../../../../services/platform/process/periodic-tasks.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { parseSnapshot } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { ReportBuffer } from '../../../../services/webhooks/lanes/report-buffer.ts';
import { SubscriptionCache } from '../../../../services/webhooks/lanes/subscription-cache.ts';
import { disabledBacklogs } from '../../../../services/webhooks/subscriptions/disabled-backlogs.ts';
import { newTenant, newWrite, type TestTenant } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { scrape } from '../../../support/scrape.ts';
import { openSession } from '../../../support/sql.ts';
import { answered, startAttempts } from '../attempts/attempts-fixture.ts';
import { type Endpoint, eventually, startLanesFixture } from './lanes-fixture.ts';

const LOGGER = createLogger('silent');

let tenant: TestTenant;
let other: TestTenant;
let otherEndpoint: Endpoint;
const webhooks = await startLanesFixture();
afterAll(() => webhooks[Symbol.asyncDispose]());
beforeEach(async () => {
  tenant = newTenant(Environment.TEST);
  other = newTenant(Environment.TEST);
  ({ endpoint: otherEndpoint } = await webhooks.subscribed(other));
});
/** Whatever a test has poisoned, another merchant's events still arrive at once. */
afterEach(async () => {
  const { id } = await webhooks.publish(other);
  await eventually(() => expect(otherEndpoint.eventIds).toContain(id));
  await eventually(async () => expect(await webhooks.statuses(other)).toEqual(['SUCCEEDED']));
});

const setAside = async (reason: string) => (await scrape())(`payments_webhook_set_aside{reason="${reason}"}`);
const write = (subscriptionId: string) => ({ ...newWrite(tenant), subscriptionId });

/** Publishes events of a paused subscription; returns their ids. */
async function publishPaused(id: string, count: number): Promise<string[]> {
  await webhooks.subscriptions.pauseWebhookSubscription(write(id));
  return webhooks.publishMany(tenant, count);
}
const resume = (id: string) => webhooks.subscriptions.resumeWebhookSubscription(write(id));
/** Makes the owner read the deliveries of a subscription again. */
const touch = (id: string) =>
  webhooks.sql('update webhooks.subscription set changed_xid = pg_current_xact_id() where id = $1', [id]);

/** Adds this many deliveries without an event, older than all others of the subscription. */
const addWithoutEvent = (subscriptionId: string, count: number, status: string) =>
  webhooks.sql(
    `insert into webhooks.open_delivery
       (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
        ordered, status, attempt_count, next_attempt_at)
     select merchant_id, environment, uuidv7(interval '-1 hour'), id, lane, uuidv7(), 'payment.succeeded.v1', n::text, 1,
            'r', false, $3, 0, now() - interval '1 hour'
       from webhooks.subscription cross join generate_series(1, $2::int) as n where id = $1`,
    [subscriptionId, count, status],
  );
const discard = (subscriptionId: string) =>
  webhooks.sql('delete from webhooks.open_delivery where subscription_id = $1', [subscriptionId]);

/** Restores deliveries twice, so that recording their end is rejected. */
const duplicateAsEnded = (eventId: string) =>
  webhooks.sql(
    `insert into webhooks.ended_delivery
       (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
        status, attempt_count, ended_at)
     select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
            'SUCCEEDED', 1, now()
       from webhooks.open_delivery where event_id = $1`,
    [eventId],
  );
const removeDuplicate = (eventId: string) =>
  webhooks.sql('delete from webhooks.ended_delivery where event_id = $1', [eventId]);

describe('deliveries whose event is missing', () => {
  it('are set aside, and those after them are sent', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const [eventId] = await publishPaused(id, 1);
    // More than one page.
    await addWithoutEvent(id, 150, 'HELD');
    await resume(id);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId]));
    await eventually(async () => expect(await setAside('EVENT')).toBe(150));
    const { id: next } = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId, next]));
    await discard(id);
  });

  it('do not prevent a held subscription from recovering', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const eventIds = await publishPaused(id, 2);
    await addWithoutEvent(id, 3, 'HELD');
    await webhooks.sql('update webhooks.subscription set paused_at = null, probe_at = now() where id = $1', [
      id,
    ]);
    await eventually(() => expect(endpoint.eventIds.toSorted()).toEqual(eventIds));
    await discard(id);
  });
});

describe('results that cannot be recorded', () => {
  it('are set aside: the delivery is sent once, and all others are recorded', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const eventIds = await publishPaused(id, 20);
    await duplicateAsEnded(eventIds[3]!);
    await resume(id);
    const recorded = async () => (await webhooks.sql(OPEN, [id])).length;
    await eventually(async () => expect(await recorded()).toBe(1));
    await eventually(async () => expect(await setAside('RESULT')).toBe(1));
    await touch(id);
    const { id: next } = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toContain(next));
    expect(endpoint.eventIds.toSorted()).toEqual([...eventIds, next].sort());
    await discard(id);
  });

  it('stay set aside if recording them has taken long', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const [eventId] = await publishPaused(id, 1);
    await duplicateAsEnded(eventId!);
    const before = await setAside('RESULT');
    await using lock = await openSession(webhooks.harness.databaseUrl);
    await lock.query('begin; lock table webhooks.ended_delivery in exclusive mode');
    await resume(id);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId]));
    // Longer than an attempt may take before it is recorded as in flight.
    await delay(2_500);
    await lock.query('commit');
    await eventually(async () => expect(await setAside('RESULT')).toBe(before! + 1));
    await delay(500);
    expect(await setAside('RESULT')).toBe(before! + 1);
    await discard(id);
  });

  it('are recorded once they can be', async () => {
    const attempts = await startAttempts(webhooks.harness);
    onTestFinished(() => attempts.close());
    const { id } = await webhooks.subscribed(tenant);
    const [eventId] = await publishPaused(id, 1);
    await webhooks.sql(`update webhooks.open_delivery set status = 'PENDING' where subscription_id = $1`, [
      id,
    ]);
    const [due] = (await webhooks.sql<{ id: string; lane: number; epoch: string }>(
      'select d.id, l.id as lane, l.epoch from webhooks.open_delivery d join webhooks.lane l on l.id = d.lane where subscription_id = $1',
      [id],
    ))!;
    await duplicateAsEnded(eventId!);
    const recorder = new ReportBuffer(attempts.recorder, LOGGER, 50);
    const recorded: boolean[] = [];
    const attempt = { deliveryId: due!.id, subscriptionId: id, eventId: eventId!, number: 1, generation: 1n };
    const report = answered({ ...attempt, lane: due!.lane, epoch: BigInt(due!.epoch) }, 200);
    recorder.add(report, { onRecorded: (isRecorded) => recorded.push(isRecorded) });
    await eventually(() => expect(recorder.setAsideIds).toEqual([due!.id]));
    expect(recorded).toEqual([]);
    await removeDuplicate(eventId!);
    await eventually(() => expect(recorded).toEqual([true]));
    expect(recorder.setAsideIds).toEqual([]);
  });

  it('of attempts whose process died do not prevent others from being closed', async () => {
    const { id } = await webhooks.subscribed(tenant);
    const [poisoned, lost] = await publishPaused(id, 2);
    await webhooks.sql(
      `insert into webhooks.attempt
         (merchant_id, environment, delivery_id, number, generation, started_at, deadline_at)
       select $1, 'test', uuidv7(), 1, 1, now() - interval '1 hour', now() - interval '1 hour'
         from generate_series(1, 120)`,
      [tenant.merchantId],
    );
    await webhooks.sql(
      `with d as (
         update webhooks.open_delivery set status = 'RETRYING', attempt_count = 1, in_flight_until = now()
          where event_id = any ($1) returning *
       )
       insert into webhooks.attempt (merchant_id, environment, delivery_id, number, generation, started_at, deadline_at)
       select merchant_id, environment, id, 1, 1, now() - interval '40 s',
              case when event_id = $2 then '-infinity' else now() - interval '30 s' end from d`,
      [[poisoned, lost], poisoned],
    );
    await eventually(async () =>
      expect(
        await webhooks.sql(
          `select d.event_id from webhooks.open_delivery d join webhooks.attempt a on a.delivery_id = d.id
            where d.subscription_id = $1 and a.failure = 'WORKER_LOST'`,
          [id],
        ),
      ).toEqual([{ event_id: lost }]),
    );
    await webhooks.sql('delete from webhooks.attempt where merchant_id = $1', [tenant.merchantId]);
    await discard(id);
  });
});

const OPEN = 'select from webhooks.open_delivery where subscription_id = $1';

describe('a subscription that cannot be sent to', () => {
  it('waits if its secret cannot be decrypted, and is sent to once it can', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const [before] = await webhooks.sql<{ sealed: Buffer }>(
      'select sealed from webhooks.signing_secret where subscription_id = $1',
      [id],
    );
    const seal = async (sealed: Buffer) => {
      await webhooks.sql('update webhooks.signing_secret set sealed = $2 where subscription_id = $1', [
        id,
        sealed,
      ]);
      await touch(id);
    };
    await seal(Buffer.from('no secret'));
    await eventually(async () => expect(await setAside('SUBSCRIPTION')).toBe(1));
    const { id: eventId } = await webhooks.publish(tenant);
    expect(endpoint.eventIds).toEqual([]);
    await seal(before!.sealed);
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId]));
    expect(await setAside('SUBSCRIPTION')).toBe(0);
  });

  it('waits if its row is invalid', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const probeAt = (at: string) =>
      webhooks.sql(`update webhooks.subscription set holding = true, probe_at = ${at} where id = $1`, [id]);
    await probeAt(`'infinity'`);
    await eventually(async () => expect(await setAside('SUBSCRIPTION')).toBe(1));
    const { id: eventId } = await webhooks.publish(tenant);
    await probeAt('null');
    await eventually(() => expect(endpoint.eventIds).toEqual([eventId]));
  });

  it('fails and is retried if its URL is invalid', async () => {
    const { id } = await webhooks.subscribed(tenant);
    await webhooks.sql(`update webhooks.subscription set url = 'https://[' where id = $1`, [id]);
    await eventually(async () => {
      await webhooks.publish(tenant);
      expect(await webhooks.statuses(tenant)).toContain('RETRYING');
    });
  });
});

/** Each statement that looks for deliveries to unblock adds one that is BLOCKED, as if they came faster than it looks. */
const BLOCK_ONE_MORE = `
create function block_one_more() returns trigger language plpgsql as $$
begin
  insert into webhooks.open_delivery
    (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id, ordered,
     status, attempt_count, next_attempt_at)
  select merchant_id, environment, uuidv7(), subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
         true, 'BLOCKED', 0, now()
    from webhooks.open_delivery where ordered order by id desc limit 1;
  return null;
end $$;
create trigger block_one_more after update on webhooks.open_delivery for each statement execute function block_one_more()`;

it('deliveries that are BLOCKED all the time do not delay the rest of the work', async () => {
  const ordered = await webhooks.subscribed(tenant, { ordered: true });
  const waiting = ordered.endpoint.hold();
  await webhooks.publish(tenant, 'object');
  const { id } = await webhooks.subscribed(other, { eventTypes: ['payment.failed.v1'] });
  await webhooks.sql(BLOCK_ONE_MORE);
  onTestFinished(async () => {
    await webhooks.sql('drop function block_one_more cascade');
    await discard(ordered.id);
    waiting.release(200);
  });
  await webhooks.publish(tenant, 'object');
  await webhooks.sql('update webhooks.subscription set holding = true where id = $1', [id]);
  await eventually(async () =>
    expect(await webhooks.sql('select holding from webhooks.subscription where id = $1', [id])).toEqual([
      { holding: false },
    ]),
  );
  // Longer than reading may take before it counts as late.
  await delay(2_000);
  expect((await scrape())('payments_webhook_send_lag_seconds')).toBeLessThan(0.5);
});

describe('ids of a wrong clock', () => {
  /** Gives the deliveries of an event, and the event itself, ids of another time. */
  const moveTo = async (eventId: string, time: string, withEvent: boolean) => {
    const [{ id } = { id: '' }] = await webhooks.sql<{ id: string }>(
      `select (left(platform.first_id(${time})::text, 13) || substr($1::text, 14))::uuid as id`,
      [eventId],
    );
    await webhooks.sql('update webhooks.open_delivery set id = $2, event_id = $3 where event_id = $1', [
      eventId,
      id,
      withEvent ? id : eventId,
    ]);
    if (withEvent) await webhooks.sql('update webhooks.event set id = $2 where id = $1', [eventId, id]);
    return id;
  };

  it('a year ahead, do not prevent later events from being sent', async () => {
    const { id, endpoint } = await webhooks.subscribed(tenant);
    const [early, late] = await publishPaused(id, 2);
    await webhooks.sql(
      `select webhooks.ensure_partitions('test', now() + interval '1 year', now() + interval '1 year')`,
    );
    const moved = await moveTo(early!, `now() + interval '1 year'`, true);
    await resume(id);
    await eventually(() => expect(endpoint.eventIds.toSorted()).toEqual([late, moved].sort()));
    const { id: next } = await webhooks.publish(tenant);
    await eventually(() => expect(endpoint.eventIds).toContain(next));
    await eventually(async () => expect(await webhooks.sql(OPEN, [id])).toEqual([]));
  });

  it('of 1970, do not prevent old events from being dropped', async () => {
    const { id } = await webhooks.subscribed(tenant);
    const [queued, held, old] = await publishPaused(id, 3);
    await moveTo(queued!, 'to_timestamp(0)', false);
    await moveTo(held!, 'to_timestamp(0)', false);
    await webhooks.sql(
      `select webhooks.ensure_partitions('test', now() - interval '30 days', now() - interval '30 days')`,
    );
    await moveTo(old!, `now() - interval '30 days'`, true);
    await webhooks.sql(`update webhooks.open_delivery set status = 'PENDING' where event_id = $1`, [queued]);
    const { expiredDeliveries, droppedPartitions, more } = await webhooks.dispatch.applyRetention({});
    expect(expiredDeliveries).toBe(3n);
    expect(more).toBe(false);
    expect(droppedPartitions).toHaveLength(3);
    expect(await webhooks.sql(OPEN, [id])).toEqual([]);
  });

  it('delay a first attempt no longer than any other', async () => {
    await using slow = await startLanesFixture({ WEBHOOK_SCHEDULE_SANDBOX: '1s,5s' });
    const { id, endpoint } = await slow.subscribed(tenant);
    await slow.subscriptions.pauseWebhookSubscription(write(id));
    await slow.publish(tenant);
    await slow.sql(
      `update webhooks.open_delivery set id = uuidv7(interval '2 days'), status = 'PENDING' where subscription_id = $1`,
      [id],
    );
    await slow.subscriptions.resumeWebhookSubscription(write(id));
    await eventually(() => expect(endpoint.eventIds).toHaveLength(1));
  });
});

it('transactions of another cluster, as after a restore, do not count as changes of subscriptions', async () => {
  const { id } = await webhooks.subscribed(tenant);
  await webhooks.sql('alter table webhooks.subscription disable trigger note_change');
  await webhooks.sql(`update webhooks.subscription set changed_xid = '9000000000000000000' where id = $1`, [
    id,
  ]);
  await webhooks.sql('alter table webhooks.subscription enable trigger note_change');
  await using stack = new AsyncDisposableStack();
  const { run } = new CrossTenantDatabase(await openIn(stack));
  const [row] = await webhooks.sql<{ seen: string }>('select pg_current_snapshot()::text as seen');
  const keys = webhooks.harness.config.WEBHOOK_SECRET_KEYS;
  const cache = new SubscriptionCache({ run, keys, logger: LOGGER, seen: parseSnapshot(row!.seen) });
  await cache.load([id]);
  expect(await cache.refresh()).not.toContain(id);
  await touch(id);
  expect(await cache.refresh()).toContain(id);
});

it('a backlog that cannot be canceled does not prevent others from being canceled', async () => {
  const ids: string[] = [];
  for (const isPoisoned of [true, false]) {
    const { id } = await webhooks.subscribed(tenant);
    const [eventId] = await publishPaused(id, 1);
    if (isPoisoned) await duplicateAsEnded(eventId!);
    ids.push(id);
  }
  await webhooks.sql(
    `update webhooks.subscription
        set state = 'DISABLED', disabled_at = now(), disabled_position = 1, holding = false, paused_at = null
      where id = any ($1)`,
    [ids],
  );
  await using stack = new AsyncDisposableStack();
  const tasks = new PeriodicTasks({
    database: await openIn(stack),
    logger: LOGGER,
    tasks: [{ ...disabledBacklogs, intervalMs: 20 }],
  });
  stack.defer(() => tasks.close());
  tasks.start();
  await eventually(async () => expect(await webhooks.sql(OPEN, [ids[1]])).toEqual([]));
  await discard(ids[0]!);
});

async function openIn(stack: AsyncDisposableStack): Promise<Database> {
  const database = await openDatabase(webhooks.harness.databaseUrl);
  stack.defer(() => database.close());
  return database;
}
