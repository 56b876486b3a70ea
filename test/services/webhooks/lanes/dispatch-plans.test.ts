import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Run } from '../../../../services/platform/database/cross-tenant-database.ts';
import { jsonRows } from '../../../../services/platform/database/json-rows.ts';
import { bindNamed } from '../../../../services/platform/database/named-sql.ts';
import { eventRow } from '../../../../services/platform/outbox/outbox-events.ts';
import {
  LOCK_REPORTED,
  READ_REPORTED,
  RECORD,
} from '../../../../services/webhooks/attempts/record-attempts.sql.ts';
import { RECORD_SUCCESSES } from '../../../../services/webhooks/attempts/record-successes.sql.ts';
import {
  FIND_BLOCKED,
  unblockDeliveries,
} from '../../../../services/webhooks/deliveries/ordered-deliveries.ts';
import {
  LANES as MEASURE_LANES,
  SUBSCRIPTIONS,
} from '../../../../services/webhooks/dispatch/dispatch-metrics.ts';
import { readRetry } from '../../../../services/webhooks/dispatch/retry-attempt.ts';
import { PUBLISH_CALLS } from '../../../../services/webhooks/events/event-intake.ts';
import { DeliveryReader } from '../../../../services/webhooks/lanes/delivery-reader.ts';
import { FIND_LOST } from '../../../../services/webhooks/lanes/lost-attempts.ts';
import { FIRST_KEPT } from '../../../../services/webhooks/retention/apply-retention.ts';
import { FIND_OLD } from '../../../../services/webhooks/retention/expire-deliveries.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { openDatabase } from '../../../support/open-database.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const SIZE = 24;
const BACKLOG = 30_000;
/** Statements that look up each delivery in a few indexes need less; those that read a table need more. */
const MOST_BLOCKS = 60 * SIZE;
/** The limit of other statements; a scan of all held deliveries needs half as many again. */
const FEW_BLOCKS = 600;
const SUBSCRIPTIONS_OF_OTHERS = 10_000;
const HELD = { subscriptions: 300, each: 100 };
const DEAD = 30_000;
const LANES = Array.from({ length: 64 }, (_, lane) => lane);

const harness = await startHarness({ SERVICES: 'webhooks' });
const fixture = webhooksFixture(harness, harness.transports.inProcess);
const tenant = newTenant();
const { id: subscriptionId } = await fixture.subscribe(tenant);
const [subscription] = await fixture.sql<{ lane: number }>('select lane from webhooks.subscription');
const { lane } = subscription!;
const database = await openDatabase(harness.databaseUrl, { poolSize: 1 });
const connection = await database.connect();
await connection.query(`update webhooks.subscription set state = 'ACTIVE'`);
afterAll(async () => {
  connection.release();
  await database.close();
  await harness.close();
});

/** Adds events and their deliveries with ids of that time; returns the last deliveries. */
async function addDeliveries(count: number, from: string): Promise<string[]> {
  await connection.query(
    `with event as (
       insert into webhooks.event
         (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
       select '${tenant.merchantId}', 'live', uuidv7(interval '${from}'), 'payment.succeeded.v1', n::text, 1, 'r',
              now(), '{}' from generate_series(1, ${count}) as n
       returning *
     )
     insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select merchant_id, environment, uuidv7(interval '${from}'), '${subscriptionId}', ${lane}, id, type, object_id,
            sequence, request_id, false, 'PENDING', 0, now() from event`,
  );
  const { rows } = await connection.query<{ id: string }>(
    `select id from webhooks.open_delivery order by id desc limit ${SIZE}`,
  );
  return rows.map(({ id }) => id);
}

const literal = (value: unknown) => {
  if (Array.isArray(value)) return `'{${value.join()}}'`;
  return typeof value === 'number' || typeof value === 'boolean' ? value : `'${value}'`;
};

/**
 * Runs statements with the plans of their first run, and records how many blocks each reads.
 * @param suffix for the names of the prepared statements.
 */
function plannedRun(suffix: string) {
  const prepared = new Set<string>();
  const blocks = new Map<string, number>();
  const run: Run = async <Row>(
    { name, text }: Parameters<Run>[0],
    parameters: NonNullable<Parameters<Run>[1]> = {},
  ) => {
    const bound = bindNamed(text, parameters);
    const prepareName = `${name}${suffix}`;
    if (!prepared.has(name)) await connection.query(`prepare ${prepareName} as ${bound.text}`);
    prepared.add(name);
    const values = bound.values.length > 0 ? `(${bound.values.map(literal).join()})` : '';
    const execute = `execute ${prepareName} ${values}`;
    await connection.query('begin');
    const explained = await connection.query<{ 'QUERY PLAN': [{ Plan: Readonly<Record<string, number>> }] }>(
      `explain (analyze, buffers, format json) ${execute}`,
    );
    await connection.query('rollback');
    const plan = explained.rows[0]!['QUERY PLAN'][0].Plan;
    blocks.set(name, plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!);
    await connection.query('begin');
    const { rows } = await connection.query(execute);
    await connection.query('rollback');
    return rows as Row[];
  };
  return { run, blocks };
}

/** The id of the next transaction. */
async function nextXid(): Promise<string> {
  const { rows } = await connection.query<{ xid: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as xid',
  );
  return rows[0]!.xid;
}

/** Runs the statements that read and record deliveries, for those added since a transaction. */
async function runAll(run: Run, deliveries: readonly string[], next: string): Promise<void> {
  const now = new Date().toISOString();
  const report = (delivery_id: string) => ({ delivery_id, number: 1, generation: 1, lane, epoch: 0 });
  const successes = deliveries.map((id) => ({
    ...report(id),
    workflow_id: 'w',
    started_at: now,
    ended_at: now,
    latency_ms: 1,
    http_status: 200,
  }));
  const failures = deliveries.map((id) => ({
    ...report(id),
    environment: 'live',
    status: 'RETRYING',
    attempt_started_at: now,
    attempt_ended_at: now,
    next_attempt_at: now,
    http_status: 500,
  }));
  const ids = [...deliveries];
  await run(RECORD_SUCCESSES, { rows: JSON.stringify(successes), ids });
  await run(LOCK_REPORTED, { ids });
  await run(READ_REPORTED, { ids, numbers: ids.map(() => 1) });
  await run(RECORD, { rows: JSON.stringify(failures), ids });
  await run(FIND_LOST, { lanes: LANES, exclude: [] });
  if (deliveries[0]) await readRetry(run, deliveries[0]);
  const reader = new DeliveryReader(run, { next, inProgress: [] });
  await reader.readWaiting({ lane, id: subscriptionId }, undefined, SIZE, []);
  await reader.findSubscriptions(LANES);
  await reader.readHeld(new Map([[subscriptionId, SIZE]]), []);
  await reader.readChanged(LANES, []);
}

const expectFewBlocks = (blocks: ReadonlyMap<string, number>) => {
  expect(blocks.size).toBe(10);
  expect([...blocks].filter(([, read]) => read > MOST_BLOCKS)).toEqual([]);
};

/** Three deliveries of each object, none of them unblocked. Those of one event have its smallest index, which plans may prefer. */
const ADD_BLOCKED = `
insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id,
  sequence, request_id, ordered, status, attempt_count, next_attempt_at)
select merchant_id, environment, uuidv7(), id, lane, id, 'payment.succeeded.v1', n::text, place, 'r', true, 'BLOCKED', 0,
       now()
  from webhooks.subscription, generate_series(1, ${BACKLOG / 3}) as n, generate_series(1, 3) as place where id = $1`;

it('unblocking reads few blocks beside many blocked deliveries of the merchant, with plans made without statistics', async () => {
  await connection.query(ADD_BLOCKED, [subscriptionId]);
  const { run, blocks } = plannedRun('_blocked');
  const objects = Array.from({ length: SIZE }, (_, n) => ({
    merchant_id: tenant.merchantId,
    environment: 'live' as const,
    subscription_id: subscriptionId,
    object_id: `${BACKLOG / 3 - n}`,
  }));
  expect(await unblockDeliveries(run, objects)).toEqual([]);
  expect([...blocks].filter(([, read]) => read > MOST_BLOCKS)).toEqual([]);
  expect(blocks.size).toBe(1);
  await connection.query('truncate webhooks.open_delivery');
});

describe('reading and recording a few deliveries reads few blocks', () => {
  it('with plans made for an empty table, of a later backlog', async () => {
    const { run, blocks } = plannedRun('_empty');
    await runAll(run, ['00000000-0000-7000-8000-000000000000'], await nextXid());
    await addDeliveries(BACKLOG, '0');
    const next = await nextXid();
    await runAll(run, await addDeliveries(SIZE, '0'), next);
    expectFewBlocks(blocks);
  });

  it('with plans made for a large table, in new partitions', async () => {
    await connection.query('analyze webhooks.event, webhooks.open_delivery, webhooks.ended_delivery');
    const { run, blocks } = plannedRun('_large');
    const { rows } = await connection.query<{ id: string }>('select id from webhooks.open_delivery limit 1');
    const next = await nextXid();
    await runAll(run, [rows[0]!.id], next);
    await runAll(run, await addDeliveries(SIZE, '8 days'), next);
    expectFewBlocks(blocks);
  });
});

async function addSubscriptionsOfOthers(): Promise<void> {
  await connection.query(
    `insert into webhooks.subscription (merchant_id, environment, id, url, unique_url, event_types, state, generation,
       created_at, holding, ordered)
     select uuidv7(), 'live', uuidv7(), url, url, event_types, 'ACTIVE', 1, now(), false, false
       from webhooks.subscription cross join generate_series(1, ${SUBSCRIPTIONS_OF_OTHERS}) where id = '${subscriptionId}'`,
  );
}

it('publishing reads few blocks beside many records and subscriptions, with plans made while there were none', async () => {
  const { run, blocks } = plannedRun('_publish');
  const publish = async () => {
    const event = {
      type: 'payment.succeeded.v1',
      objectId: 'o',
      data: {},
      requestId: 'r',
      occurredAt: new Date(),
    };
    const scope = { merchantId: tenant.merchantId, environment: 'live' as const };
    const call = {
      call: 0,
      merchant_id: scope.merchantId,
      environment: 'live',
      caller: 't',
      method: 'm',
    };
    const record = { key: 'k', lock_name: 'k', request_hash: '', request_id: 'r', request: {} };
    await run(PUBLISH_CALLS, {
      calls: JSON.stringify([{ ...call, ...record }]),
      events: jsonRows([eventRow(scope, event)]),
      responses: JSON.stringify([{ call: 0, event: '' }]),
    });
  };
  await publish();
  await connection.query(
    `insert into platform.idempotency_record (merchant_id, environment, caller, method, key, request_hash, response)
     select '${tenant.merchantId}', 'live', 't', 'm', n::text, '', '' from generate_series(1, ${BACKLOG}) as n`,
  );
  await addSubscriptionsOfOthers();
  await publish();
  expect(blocks.get(PUBLISH_CALLS.name)).toBeLessThan(FEW_BLOCKS / 10);
});

/** Deliveries on hold, of subscriptions of their own. */
async function addHeld(): Promise<void> {
  await connection.query(
    `insert into webhooks.subscription (merchant_id, environment, id, url, unique_url, event_types, state, generation,
       created_at, error, error_at, holding, ordered)
     select uuidv7(), 'live', uuidv7(), url, url, event_types, 'ERROR', 1, now(),
            '{"cause": "DELIVERY_EXHAUSTED"}', now(), true, false
       from webhooks.subscription cross join generate_series(1, ${HELD.subscriptions}) where id = '${subscriptionId}'`,
  );
  await connection.query(
    `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
       object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
     select merchant_id, environment, uuidv7(), id, lane, uuidv7(), 'payment.succeeded.v1', n::text, 1, 'r', false, 'HELD',
            1, now()
       from generate_series(1, ${HELD.each}) as n cross join webhooks.subscription where holding`,
  );
}

/** Opens a transaction that keeps rows which are deleted from now on. */
async function openSnapshot(): Promise<void> {
  const holder = await openDatabase(harness.databaseUrl, { poolSize: 1 });
  const transaction = await holder.connect();
  await transaction.query('set idle_in_transaction_session_timeout = 0');
  await transaction.query(
    'begin isolation level repeatable read; select from webhooks.open_delivery limit 1',
  );
  onTestFinished(async () => {
    transaction.release(true);
    await holder.close();
  });
}

it('queries for work read few blocks beside many held deliveries, and dead rows that a snapshot keeps', async () => {
  await connection.query('delete from webhooks.open_delivery');
  await connection.query('vacuum webhooks.open_delivery');
  await addSubscriptionsOfOthers();
  await addHeld();
  await openSnapshot();
  await addDeliveries(DEAD, '0');
  await connection.query(`delete from webhooks.open_delivery where status = 'PENDING'`);
  await connection.query('analyze webhooks.open_delivery, webhooks.subscription');
  const { run, blocks } = plannedRun('_held');
  const reader = new DeliveryReader(run, { next: await nextXid(), inProgress: [] });
  await addDeliveries(SIZE, '0');
  const { rows } = await connection.query<{ id: string }>(
    'select id from webhooks.subscription where holding limit 1',
  );
  await reader.readChanged(LANES, []);
  await reader.readWaiting({ lane, id: subscriptionId }, undefined, SIZE, []);
  await reader.readHeld(new Map([[rows[0]!.id, SIZE]]), []);
  await run(FIND_BLOCKED, { lanes: LANES });
  await run(MEASURE_LANES);
  const [kept] = await run<{ id: string }>(FIRST_KEPT, { environment: 'live', retentionMs: 86_400_000 });
  for (const find of FIND_OLD) {
    expect(await run(find, { environment: 'live', firstKept: kept!.id })).toEqual([]);
  }
  // These begin with the oldest delivery, so they pass all dead rows, of which a block holds dozens.
  const fromOldest = ['read_waiting_deliveries', 'first_kept'];
  const limitOf = (name: string) => (fromOldest.includes(name) ? DEAD / 10 : FEW_BLOCKS);
  expect([...blocks].filter(([name, read]) => read > limitOf(name))).toEqual([]);
  expect(blocks.size).toBe(8);
  // As many subscriptions as have held deliveries.
  await reader.findSubscriptions(LANES);
  await run(SUBSCRIPTIONS);
  const perSubscription = [...blocks].filter(([name, read]) => read > limitOf(name) + 4 * HELD.subscriptions);
  expect(perSubscription).toEqual([]);
  // A scan of all subscriptions reads several times as many.
  expect(blocks.get(SUBSCRIPTIONS.name)).toBeLessThan(FEW_BLOCKS / 10);
});
