import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import type pg from 'pg';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { createServices } from '../../../../services/server.ts';
import { createTestDatabase, newTenant, type TestTenant, testConfig } from '../../../support/harness.ts';
import { openSession } from '../../../support/sql.ts';
import { startAttempts } from '../attempts/attempts-fixture.ts';
import { insertPastDeliveries } from '../webhook-past.ts';
import { webhooksFixture } from '../webhooks-fixture.ts';

const DELIVERIES = 10_000;
/** The settings of all connections: those of delivery, but with a short lock timeout. */
const DISPATCH_SETTINGS = [
  'timezone=UTC',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'jit=off',
  'lock_timeout=250ms',
];

/** The locks that every change of a table holds at its end, in any backend. */
const LOG_LOCKS = `
create table public.held_lock (command text, relation oid, mode text);
create table public.known_table (oid oid, name text, kind text);
create function public.log_locks() returns event_trigger language plpgsql as $$
begin
  insert into public.held_lock
  select tg_tag, relation, mode from pg_locks where pid = pg_backend_pid() and locktype = 'relation' and granted;
end $$;
create event trigger log_locks on ddl_command_end execute function public.log_locks()`;

/**
 * Statements of delivery that wait for a lock of a table change. A read of old rows by id may hit the partition at
 * the moment when it is dropped.
 */
const BLOCKED = `
select waiting.query as waits, holding.query as holds
  from pg_stat_activity waiting
  join pg_stat_activity holding on holding.pid = any (pg_blocking_pids(waiting.pid))
 where waiting.wait_event_type = 'Lock' and holding.query ~* '^(alter|drop) table'
   and waiting.query !~* '^(alter|drop) table'
   and waiting.query !~* '^select .* from "webhooks"\\."(delivery|delivery_attempt|event)"'`;

const databaseUrl = await createTestDatabase();
const options = encodeURIComponent(DISPATCH_SETTINGS.map((setting) => `-c ${setting}`).join(' '));
const impatient = { config: testConfig(), databaseUrl: `${databaseUrl}?options=${options}` };
const services = await createServices({ ...impatient, logger: createLogger('fatal') });
const attempts = await startAttempts(impatient);
const transport = services.transportFor({ name: 'test', grants: new Set(ALL_GRANTS) });
const fixture = webhooksFixture({ databaseUrl }, transport);
await fixture.sql(LOG_LOCKS);
afterAll(async () => {
  await attempts.close();
  await services.close();
});

async function connect(): Promise<pg.Client> {
  const client = await openSession(databaseUrl);
  onTestFinished(() => client.end());
  return client;
}

/** A merchant with a filled log of five weeks ago. */
async function filledPast(): Promise<TestTenant> {
  const tenant = newTenant();
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  const to = new Date(Date.now() - 38 * DAY_MS);
  const from = new Date(to.getTime() - 6 * DAY_MS);
  await fixture.sql(`select webhooks.ensure_partitions('live', $1, $2)`, [from, to]);
  const client = await connect();
  const { merchantId } = tenant;
  await insertPastDeliveries(client, {
    merchantId,
    subscriptionId,
    from,
    to,
    deliveries: DELIVERIES,
    attemptsEach: 2,
  });
  return tenant;
}

/** A read of rows that may have been dropped. */
const ignoreNotFound = (read: Promise<unknown>) =>
  read.catch((error: unknown) => {
    if (ConnectError.from(error).code !== Code.NotFound) throw error;
  });

/** Publishes, delivers and reads old rows continuously until it is stopped; any failure fails the flow. */
function startFlow(past: TestTenant) {
  let delivered = 0;
  let running = true;
  const publishing = async () => {
    const tenant = newTenant();
    await fixture.subscribe(tenant);
    while (running) await fixture.publish(tenant, randomUUID());
  };
  const delivering = async () => {
    while (running) {
      delivered += (await attempts.answerAll(204)).length;
      await delay(5);
    }
  };
  const reading = async () => {
    while (running) {
      const { deliveries } = await fixture.deliveries.listDeliveries({ ...past, pageSize: 5 });
      for (const { id: deliveryId, eventId } of deliveries) {
        const reads = [
          fixture.events.getEvent({ ...past, eventId }),
          fixture.deliveries.getDelivery({ ...past, deliveryId }),
        ];
        await Promise.all(reads.map(ignoreNotFound));
      }
    }
  };
  const flow = Promise.all([publishing(), delivering(), reading()]);
  flow.catch(() => undefined);
  return {
    delivered: () => delivered,
    /** Rejects with the failure, if there was one. */
    async stop() {
      running = false;
      await flow;
    },
  };
}

/** Watches continuously who waits for whom; the returned function returns what was seen. */
async function watchWaits() {
  const client = await connect();
  let running = true;
  const seen: { waits: string; holds: string }[] = [];
  const watching = (async () => {
    while (running) seen.push(...(await client.query(BLOCKED)).rows);
  })();
  return async () => {
    running = false;
    await watching;
    return seen;
  };
}

/** Applies the retention during deliveries; returns what was dropped, what waits, and who waited for it. */
async function applyAmidDeliveries(past: TestTenant) {
  const flow = startFlow(past);
  await expect.poll(flow.delivered, { timeout: 40_000 }).toBeGreaterThan(20);
  const waits = await watchWaits();
  const before = flow.delivered();
  const answer = await fixture.dispatch.applyRetention({});
  const meanwhile = flow.delivered() - before;
  await expect.poll(flow.delivered, { timeout: 40_000 }).toBeGreaterThan(before + meanwhile + 20);
  await flow.stop();
  return { ...answer, meanwhile, waited: await waits() };
}

interface HeldLock {
  kind: string;
  name: string;
  mode: string;
}

/** What the commands since then held of the tables that there were before them: `kind` is p of a parent. */
async function startLockLog() {
  await fixture.sql('truncate public.held_lock, public.known_table');
  await fixture.sql(`insert into public.known_table
    select oid, relname, relkind from pg_class
     where relnamespace = 'webhooks'::regnamespace and relkind in ('r', 'p')`);
  return () =>
    fixture.sql<HeldLock>(
      `select distinct kind, name, mode from public.held_lock join public.known_table on oid = relation
        order by kind, name, mode`,
    );
}

/** A lock that neither readers nor writers wait for. */
const shared = (name: string) => ({ kind: 'p', name, mode: 'ShareUpdateExclusiveLock' });
const onParents = (locks: HeldLock[]) => locks.filter(({ kind }) => kind === 'p');

it('drops a full partition during deliveries, without making their statements wait', async () => {
  const past = await filledPast();
  const heldLocks = await startLockLog();
  const { droppedPartitions, waited } = await applyAmidDeliveries(past);
  expect(droppedPartitions.map((name) => name.replace(/_live_\d+$/, '')).toSorted()).toEqual(
    expect.arrayContaining(['attempt', 'ended_delivery', 'event']),
  );
  expect(waited).toEqual([]);
  const locks = await heldLocks();
  expect(onParents(locks)).toEqual(['attempt_live', 'ended_delivery_live', 'event_live'].map(shared));
  const exclusive = locks.filter(({ mode }) => mode === 'AccessExclusiveLock').map(({ name }) => name);
  expect(exclusive.toSorted()).toEqual(droppedPartitions.toSorted());
});

it('lets a long read of the old partition finish, while deliveries continue', async () => {
  const past = await filledPast();
  const reader = await connect();
  await reader.query('begin isolation level repeatable read');
  const count = `select count(*)::int as n from webhooks.event where merchant_id = $1 and type <> 'webhook.ping.v1'`;
  const held = await reader.query(count, [past.merchantId]);
  expect(held.rows).toEqual([{ n: DELIVERIES }]);
  const first = await applyAmidDeliveries(past);
  expect(first.waited).toEqual([]);
  expect(first.waitingPartitions[0]).toMatch(/^event_live_/);
  // It waited for the lock timeout, during which deliveries continued.
  expect(first.meanwhile).toBeGreaterThan(20);
  expect((await reader.query(count, [past.merchantId])).rows).toEqual([{ n: DELIVERIES }]);
  await reader.query('commit');
  const heldLocks = await startLockLog();
  const second = await applyAmidDeliveries(past);
  expect(second.waited).toEqual([]);
  expect(second.droppedPartitions).toEqual(first.waitingPartitions);
  expect(second.waitingPartitions).toEqual([]);
  expect(onParents(await heldLocks())).toEqual([shared('event_live')]);
});
