import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { EventService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { createTestDatabase, newTenant, startHarness, type TestTenant } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { PAYMENT, webhooksFixture } from '../webhooks-fixture.ts';

const PATIENT = { timeout: 40_000, interval: 50 };

const statements: string[] = [];
const harness = await startHarness({ SERVICES: 'webhooks' }, (sql) => statements.push(sql));
const fixture = webhooksFixture(harness, harness.transports.grpc);
afterAll(() => harness.close());

const feed = () => createClient(EventService, harness.transports.grpc);

/** The ids of the feed from a cursor to its end, and the cursor there. */
async function readOn(request: Omit<Parameters<ReturnType<typeof feed>['listEventFeed']>[0], '$typeName'>) {
  const ids: string[] = [];
  let { start } = request;
  for (;;) {
    const page = await feed().listEventFeed({ ...request, start, maxEvents: 3 } as typeof request);
    ids.push(...page.events.map(({ id }) => id));
    start = { case: 'cursor', value: page.nextCursor };
    if (!page.hasMore) return { ids, cursor: page.nextCursor };
  }
}

const from = (cursor: string) => ({ start: { case: 'cursor' as const, value: cursor } });

/** Logs an event in its own transaction, which the caller ends. */
async function logSlowly({ merchantId }: TestTenant, id = uuidv7(), { databaseUrl } = harness) {
  const client = await openSession(databaseUrl);
  await client.query('begin');
  await client.query(
    `insert into webhooks.event
       (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
     values ($1, 'live', $2, 'payment.succeeded.v1', 'object', 1, 'request', now(), $3)`,
    [merchantId, id, JSON.stringify({ data: PAYMENT })],
  );
  return {
    id,
    async end(how: 'commit' | 'rollback') {
      await client.query(how);
      await client.end();
    },
  };
}

describe('ListEventFeed', () => {
  it('returns every event once, from any cursor, like GetEvent', async () => {
    const tenant = newTenant();
    const published = await fixture.publishMany(tenant, 7);
    const read = await vi.waitFor(async () => {
      const all = await readOn(tenant);
      expect(all.ids.toSorted()).toEqual(published);
      return all;
    }, PATIENT);
    const { events } = await feed().listEventFeed({ ...tenant, maxEvents: 100 });
    for (const event of events) {
      expect((await feed().getEvent({ ...tenant, eventId: event.id })).event).toEqual(event);
    }
    const { nextCursor } = await feed().listEventFeed({ ...tenant, maxEvents: 4 });
    expect((await readOn({ ...tenant, ...from(nextCursor) })).ids).toEqual(read.ids.slice(4));
    expect((await readOn({ ...tenant, ...from(read.cursor) })).ids).toEqual([]);
  });

  it('includes events that commit out of order or have a smaller id', async () => {
    const tenant = newTenant();
    const { cursor } = await readOn(tenant);
    const late = await logSlowly(tenant);
    const aborted = await logSlowly(tenant);
    const early = await logSlowly(tenant, uuidv7({ msecs: Date.now() - 60_000 }));
    await early.end('commit');
    await aborted.end('rollback');
    const meanwhile = await readOn({ ...tenant, ...from(cursor) });
    expect(meanwhile.ids).toEqual([]);
    await late.end('commit');
    await vi.waitFor(async () => {
      expect((await readOn({ ...tenant, ...from(meanwhile.cursor) })).ids).toEqual([late.id, early.id]);
    }, PATIENT);
  });

  it('returns each event once while events are published concurrently', async () => {
    const tenant = newTenant();
    const expected: string[] = [];
    const seen: string[] = [];
    let writing = true;
    const publish = async () => {
      for (let n = 0; n < 15; n += 1) expected.push((await fixture.publish(tenant)).id);
    };
    const logOne = async (n: number) => {
      const transaction = await logSlowly(tenant);
      await delay((n * 37) % 90);
      if (n % 4 === 0) return transaction.end('rollback');
      await transaction.end('commit');
      expected.push(transaction.id);
    };
    const logMany = async () => {
      for (let n = 0; n < 8; n += 1) await Promise.all([logOne(n), logOne(n + 3)]);
    };
    let { cursor } = await readOn(tenant);
    const follow = async () => {
      const read = await readOn({ ...tenant, ...from(cursor) });
      seen.push(...read.ids);
      cursor = read.cursor;
    };
    const followAll = async () => {
      while (writing) await follow();
    };
    const writes = Promise.all([publish(), publish(), logMany()]).finally(() => {
      writing = false;
    });
    await Promise.all([writes, followAll()]);
    await vi.waitFor(async () => {
      await follow();
      expect(seen).toHaveLength(expected.length);
    }, PATIENT);
    expect(seen.toSorted()).toEqual(expected.toSorted());
  });

  it('filters by merchant, environment, type and time of publication, and leaves out pings', async () => {
    const live = newTenant();
    const test = { ...live, environment: Environment.TEST };
    const other = newTenant();
    const startedAt = timestampFromMs(Date.now());
    const { cursor } = await readOn({});
    await fixture.subscribe(live);
    const [first, second, third] = [
      (await fixture.publish(live)).id,
      (await fixture.publish(test)).id,
      (await fixture.publish(other)).id,
    ];
    const answers = (request: Parameters<typeof readOn>[0], ids: string[]) =>
      vi.waitFor(async () => {
        expect((await readOn({ ...from(cursor), ...request })).ids.toSorted()).toEqual(ids);
      }, PATIENT);
    await answers({}, [first, second, third].toSorted());
    await answers(live, [first]);
    await answers(test, [second]);
    await answers({ environment: Environment.TEST }, [second]);
    await answers({ eventTypes: ['payment.succeeded.v1'] }, [first, second, third].toSorted());
    await answers({ eventTypes: ['refund.failed.v1'] }, []);
    await answers({ ...live, start: { case: 'publishedFrom', value: startedAt } }, [first]);
    const later = timestampFromMs(Date.now() + 1_000);
    await answers({ ...live, start: { case: 'publishedFrom', value: later } }, []);
  });

  it('starts with the first event published since a time, and continues where a partition was dropped', async () => {
    const tenant = newTenant();
    const since = Date.now();
    const weeksAgo = since - 21 * DAY_MS;
    const [partition] = await sqlOf<{ name: string }>(
      harness,
      `select p as name from webhooks.ensure_partitions('live', to_timestamp($1), to_timestamp($1)) p
        where p like 'event%'`,
      [weeksAgo / 1_000],
    );
    const ids: string[] = [];
    for (const msecs of [since - 60_000, since, weeksAgo, since + 1]) {
      const logged = await logSlowly(tenant, uuidv7({ msecs }));
      await logged.end('commit');
      ids.push(logged.id);
    }
    const start = { start: { case: 'publishedFrom' as const, value: timestampFromMs(since) } };
    await vi.waitFor(async () => {
      expect((await readOn({ ...tenant, ...start })).ids).toEqual(ids.slice(1));
    }, PATIENT);
    const { events, nextCursor } = await feed().listEventFeed({ ...tenant, ...start, maxEvents: 2 });
    expect(events.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    await sqlOf(harness, `drop table webhooks.${partition!.name}`);
    const rest = await readOn({ ...tenant, ...from(nextCursor) });
    expect(rest.ids).toEqual(ids.slice(3));
    // The position of an event that has committed, which no later transaction can precede, even after a crash.
    expect(rest.cursor).toContain(ids[3]!);
  });

  it('refuses a cursor once events after it may have been dropped, also of a stream', async () => {
    const own = await startHarness({ SERVICES: 'webhooks' });
    onTestFinished(() => own.close());
    const client = createClient(EventService, own.transports.inProcess);
    const tenant = newTenant();
    const now = Date.now();
    const [weeksAgo, daysAgo] = [now - 21 * DAY_MS, now - 3 * DAY_MS];
    const [live, test] = await sqlOf<{ name: string }>(
      own,
      `select p as name from (
         select webhooks.ensure_partitions('live', to_timestamp($1), to_timestamp($1)) as p
         union all select webhooks.ensure_partitions('test', to_timestamp($2), now())) made
        where p like 'event%' order by p`,
      [weeksAgo / 1_000, daysAgo / 1_000],
    );
    for (const msecs of [weeksAgo, weeksAgo + 1, now]) {
      await (await logSlowly(tenant, uuidv7({ msecs }), own)).end('commit');
    }
    const cursorAfter = async (maxEvents: number, environment = Environment.UNSPECIFIED) => {
      const page = await client.listEventFeed({ environment, maxEvents });
      return { ids: page.events.map(({ id }) => id), request: from(page.nextCursor) };
    };
    const all = await vi.waitFor(async () => {
      const read = await cursorAfter(100);
      expect(read.ids).toHaveLength(3);
      return read;
    }, PATIENT);
    const behind = (await cursorAfter(1)).request;
    const quiet = (await cursorAfter(1, Environment.TEST)).request;
    expect((await client.listEventFeed(behind)).events).toHaveLength(2);
    for (const { name } of [live!, test!]) await sqlOf(own, `drop table webhooks.${name}`);
    const expired = { environment: 'live' };
    const listed = client.listEventFeed(behind);
    await expectRefusal(listed, Code.OutOfRange, 'EVENT_CURSOR_EXPIRED', expired);
    const streamed = client.getEventFeed(behind)[Symbol.asyncIterator]().next();
    await expectRefusal(streamed, Code.OutOfRange, 'EVENT_CURSOR_EXPIRED', expired);
    // A reader at the end has missed nothing, however old the last event is. A new reader gets the events that are
    // kept.
    const inTest = { environment: Environment.TEST, ...quiet };
    for (const request of [all.request, inTest])
      expect((await client.listEventFeed(request)).events).toEqual([]);
    expect((await cursorAfter(3)).ids).toEqual(all.ids.slice(2));
  });

  it('is read in the order of its index, even with a plan that was made for empty partitions', async () => {
    const { cursor } = await readOn({});
    const { merchantId, environment } = newTenant();
    const eventTypes = ['refund.failed.v1'];
    const publishedFrom = { case: 'publishedFrom' as const, value: timestampFromMs(Date.now()) };
    statements.length = 0;
    await feed().listEventFeed({});
    await feed().listEventFeed({ merchantId, environment, eventTypes, ...from(cursor) });
    await feed().listEventFeed({ environment, start: publishedFrom });
    const reads = [...new Set(statements.filter((statement) => statement.includes('logged_xid')))];
    expect(reads).toHaveLength(4);
    await using empty = await openSession(await createTestDatabase());
    // As on the connections for reads.
    await empty.query('set enable_seqscan = off; set jit = off');
    for (const statement of reads) {
      const { rows } = await empty.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement}`);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/Index (Only )?Scan (Backward )?using event_\w+_logged_xid_id_idx/);
      // The window is sorted again once it is read: its plan comes first.
      const ofEvents = plan.slice(
        Math.max(plan.indexOf('CTE event'), 0),
        plan.lastIndexOf('_logged_xid_id_idx'),
      );
      expect(ofEvents).not.toMatch(/\bSort {2}\(/);
    }
  });

  it('refuses callers without the grant operations, foreign cursors and unknown types', async () => {
    const grants = new Set(ALL_GRANTS.filter((grant) => grant !== 'operations'));
    const others = createClient(EventService, harness.services.transportFor({ name: 'other', grants }));
    await expectRefusal(others.listEventFeed({}), Code.PermissionDenied, 'GRANT_MISSING');
    const { cursor } = await readOn({});
    const ahead = `9${'0'.repeat(18)}${cursor.slice(cursor.indexOf('-'))}`;
    for (const value of ['x', `${cursor}0`, ahead]) {
      const refused = feed().listEventFeed(from(value));
      await expectRefusal(refused, Code.InvalidArgument, 'INVALID_EVENT_CURSOR');
    }
    const unknown = feed().listEventFeed({ eventTypes: ['refund.unknown.v1'] });
    await expectRefusal(unknown, Code.InvalidArgument, 'INVALID_EVENT_TYPE');
  });
});
