import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { expiredQuotes } from '../../services/advances/expired-quotes.ts';
import type { PeriodicTask } from '../../services/platform/process/periodic-tasks.ts';
import { oldDeliveryRecords } from '../../services/webhooks/dispatch/delivery-records.ts';
import { unusedSequences } from '../../services/webhooks/events/unused-sequences.ts';
import {
  deletedSubscriptions,
  endedResends,
  formerLaneOwners,
  oldEndpointSlots,
} from '../../services/webhooks/old-rows.ts';
import { newTenant, newWrite, startHarness } from '../support/harness.ts';
import { openDatabase } from '../support/open-database.ts';
import { webhooksFixture } from './webhooks/webhooks-fixture.ts';

const harness = await startHarness({ SERVICES: 'webhooks,advances,funds' });
const fixture = webhooksFixture(harness, harness.transports.inProcess);
const database = await openDatabase(harness.databaseUrl);
afterAll(async () => {
  await database.close();
  await harness.close();
});

const sql = <Row extends object>(text: string, values?: unknown[]) => fixture.sql<Row>(text, values);
/** Runs a task until it is done; returns the number of rows of each batch. */
async function run(task: PeriodicTask): Promise<number[]> {
  const batches: number[] = [];
  for (let more = true; more; ) {
    const batch = await database.transaction((em) => task.runBatch(em, database));
    batches.push(batch.rows);
    more = batch.more;
  }
  return batches;
}
const namesIn = async (table: string, column: string) =>
  (await sql<{ name: string }>(`select ${column}::text as name from ${table} order by 1`)).map(
    ({ name }) => name,
  );

it('records of deliveries are deleted a day after they were written, whatever the time in their workflow’s id', async () => {
  await sql(
    `insert into webhooks.delivery_record (workflow_id, id, deliveries)
     values ('deliveries-2199-01-01T00:00:00Z-live-old', uuidv7(interval '-25 hours'), '[]'),
            ('deliveries-2001-01-01T00:00:00Z-live-new', uuidv7(interval '-23 hours'), '[]')`,
  );
  expect(await run(oldDeliveryRecords)).toEqual([1]);
  expect(await namesIn('webhooks.delivery_record', 'workflow_id')).toEqual([
    'deliveries-2001-01-01T00:00:00Z-live-new',
  ]);
});

it('resends are deleted a year after they ended', async () => {
  const add = (requestId: string, endedAt: string) =>
    sql(
      `insert into webhooks.resend (merchant_id, environment, id, event_id, only_failed, state, request_id, created_at,
         ended_at, after_event_id, after_subscription_id, last_event_id, expected_count, made_count, succeeded_count,
         exhausted_count, canceled_count, open_ids)
       select uuidv7(), 'live', uuidv7(), uuidv7(), false, case when ${endedAt} is null then 'RUNNING' else 'COMPLETED' end,
              $1, now() - interval '3 years', ${endedAt}, uuidv7(), uuidv7(), uuidv7(), 0, 0, 0, 0, 0, '{}'`,
      [requestId],
    );
  await add('old', `now() - interval '366 days'`);
  await add('young', `now() - interval '364 days'`);
  await add('running', 'null::timestamptz');
  expect(await run(endedResends)).toEqual([1]);
  expect(await namesIn('webhooks.resend', 'request_id')).toEqual(['running', 'young']);
});

it('counts of attempts are deleted after a day', async () => {
  await sql(
    `insert into webhooks.endpoint_slot (merchant_id, environment, subscription_id, generation, starts_at, succeeded, failed, latencies)
     select uuidv7(), 'live', uuidv7(), 1, now() - make_interval(hours => hours), hours, 0, '{}'
       from unnest(array[23, 25]) as hours`,
  );
  expect(await run(oldEndpointSlots)).toEqual([1]);
  expect(await namesIn('webhooks.endpoint_slot', 'succeeded')).toEqual(['23']);
});

it('deleted subscriptions are removed a year later', async () => {
  const tenant = newTenant();
  const ids = [
    await fixture.subscribe(tenant),
    await fixture.subscribe(tenant),
    await fixture.subscribe(tenant),
  ];
  const [old, young, kept] = ids.map(({ id }) => id);
  for (const [id, days] of [
    [old, 366],
    [young, 364],
  ] as const) {
    const request = { ...newWrite(tenant), subscriptionId: id! };
    await fixture.subscriptions.deleteWebhookSubscription(request);
    await sql(
      'update webhooks.subscription set deleted_at = now() - make_interval(days => $2) where id = $1',
      [id, days],
    );
  }
  expect(await run(deletedSubscriptions)).toEqual([1]);
  expect(await namesIn('webhooks.subscription', 'id')).toEqual([young, kept].toSorted());
});

it('records of lane owners are deleted a day after their lease ended', async () => {
  await sql(
    `insert into webhooks.lane_owner (id, leased_until)
     values (uuidv7(), now() - interval '25 hours'), (uuidv7(), now() - interval '23 hours')`,
  );
  expect(await run(formerLaneOwners)).toEqual([1]);
});

it('unrequested quotes are deleted with their installments thirty days after they expired and were made', async () => {
  await sql(
    `with added as (
       insert into advances.quote (merchant_id, environment, id, schedule_id, amount_minor, fee_minor, net_minor,
         monthly_rate_bps, quoted_at, expires_at, requested_by, expired, stale)
       select uuidv7(), 'live', uuidv7(-made), uuidv7(), amount, 0, amount, 0, now() - interval '1 year', now() - expired,
              requester, false, false
         from (values (1, interval '31 days', interval '31 days', null),
                      (2, interval '31 days', interval '29 days', null),
                      (3, interval '31 days', interval '31 days', 'requester'),
                      (4, interval '1 hour', interval '31 days', null)) as quoted (amount, made, expired, requester)
       returning merchant_id, environment, id, amount_minor
     )
     insert into advances.quote_installment
       (merchant_id, environment, quote_id, installment_id, version, date, amount_minor, fee_minor, days)
     select merchant_id, environment, id, uuidv7(), 1, now(), amount_minor, 0, 1 from added`,
  );
  expect(await run(expiredQuotes)).toEqual([1]);
  for (const table of ['advances.quote', 'advances.quote_installment']) {
    expect(await namesIn(table, 'amount_minor')).toEqual(['2', '3', '4']);
  }
});

it('sequences are deleted in steps after a year without an event, and still rise', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  const [old, young] = [randomUUID(), randomUUID()];
  for (const objectId of [old, old, old, young]) await fixture.publish(tenant, objectId);
  await sql(
    `insert into webhooks.object_sequence (merchant_id, environment, object_id, last_sequence, last_used_on)
     select $1, 'live', n::text, 1, current_date - 400 from generate_series(1, 1500) as n`,
    [tenant.merchantId],
  );
  await sql('update webhooks.object_sequence set last_used_on = current_date - 400 where object_id = $1', [
    old,
  ]);
  expect(await run(unusedSequences)).toEqual([1_000, 501, 0]);
  const left = 'select object_id from webhooks.object_sequence where merchant_id = $1';
  expect(await sql(left, [tenant.merchantId])).toEqual([{ object_id: young }]);
  const next = async (objectId: string, of = tenant) => (await fixture.publish(of, objectId)).sequence;
  expect([await next(old), await next(old), await next(young)]).toEqual([4n, 5n, 2n]);
  // A merchant's new objects start after the deleted sequences, those of others at 1.
  expect([await next(randomUUID()), await next(old, other)]).toEqual([4n, 1n]);
});
