import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { DAY_MS } from '../../services/platform/durations.ts';
import { ALL_GRANTS } from '../../services/platform/rpc/grants.ts';
import { insertPastDeliveries } from '../services/webhooks/webhook-past.ts';
import { type WebhooksFixture, webhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { startBenchServices } from './bench-services.ts';
import { type DeliveryFlow, startDeliveryFlow } from './delivery-flow.ts';

const WEEKS = 5;
const DELIVERIES_A_WEEK = 1_000_000;
const ATTEMPTS_EACH = 2;
const EVENTS_A_SECOND = 200;
const WINDOW_MS = 30_000;
/** How long the file system and the next checkpoint are busy after the drop. */
const AFTERMATH_MS = 10_000;

const WEEK_MS = 7 * DAY_MS;

/** Drops a month of ten million attempts, and the events and deliveries that belong to them, while delivering. */
export async function benchRetention(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { services, databaseUrl } = await startBenchServices(stack);
  const transport = services.transportFor({ name: 'bench', grants: new Set(ALL_GRANTS) });
  const fixture = webhooksFixture({ databaseUrl }, transport);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  stack.defer(() => client.end());
  const merchantId = await fillMonth(fixture, client);
  await client.query('checkpoint');

  const waits = await watchLockWaits(databaseUrl, stack);
  const flow = await startDeliveryFlow(services, fixture, EVENTS_A_SECOND);
  await delay(5_000);
  await measured(waits, 'before', flow, () => delay(WINDOW_MS));
  const reader = new pg.Client({ connectionString: databaseUrl });
  await reader.connect();
  stack.defer(() => reader.end());
  await reader.query('begin isolation level repeatable read');
  await reader.query('select id from webhooks.event where merchant_id = $1 order by id limit 1', [
    merchantId,
  ]);
  await measured(waits, 'during the drop of deliveries and attempts, events being read', flow, () =>
    apply(fixture),
  );
  await reader.query('commit');
  await measured(waits, 'during the drop of the events', flow, () => apply(fixture));
  await measured(waits, 'after', flow, () => delay(WINDOW_MS));
  await flow.stop();
  const left = `select count(*)::int as n from webhooks.attempt
    where merchant_id = $1 and delivery_id < platform.first_id(now() - interval '30 days')`;
  console.log(`attempts left of the month: ${(await client.query(left, [merchantId])).rows[0].n}`);
}

/** Fills the expired weeks of a month. Returns their merchant. */
async function fillMonth(fixture: WebhooksFixture, client: pg.Client): Promise<string> {
  const tenant = { merchantId: crypto.randomUUID(), environment: Environment.LIVE };
  const { id: subscriptionId } = await fixture.subscribe(tenant);
  const end = Date.now() - 37 * DAY_MS;
  const startedAt = performance.now();
  await client.query('set synchronous_commit = off');
  await client.query(`select webhooks.ensure_partitions('live', $1, $2)`, [
    new Date(end - WEEKS * WEEK_MS),
    new Date(end),
  ]);
  for (let week = WEEKS; week > 0; week -= 1) {
    await insertPastDeliveries(client, {
      ...{ merchantId: tenant.merchantId, subscriptionId },
      ...{ deliveries: DELIVERIES_A_WEEK, attemptsEach: ATTEMPTS_EACH },
      from: new Date(end - week * WEEK_MS),
      to: new Date(end - (week - 1) * WEEK_MS),
    });
  }
  await client.query('vacuum (freeze, analyze) webhooks.event, webhooks.ended_delivery, webhooks.attempt');
  const size = await client.query(
    `select pg_size_pretty(sum(pg_total_relation_size(oid))) as size from pg_class
      where relnamespace = 'webhooks'::regnamespace and relkind = 'r'`,
  );
  const attempts = WEEKS * DELIVERIES_A_WEEK * ATTEMPTS_EACH;
  const tookS = ((performance.now() - startedAt) / 1_000).toFixed(0);
  console.log(`${attempts} attempts of ${WEEKS} weeks filled in ${tookS} s, ${size.rows[0].size} in all`);
  return tenant.merchantId;
}

/** Applies the retention until nothing is left to drop, and prints what was dropped and how long it took. */
async function apply(fixture: WebhooksFixture): Promise<void> {
  for (let more = true; more; ) {
    const startedAt = performance.now();
    const answer = await fixture.dispatch.applyRetention({});
    const tookMs = (performance.now() - startedAt).toFixed(0);
    console.log(
      `dropped ${answer.droppedPartitions.length} partitions in ${tookMs} ms, ${answer.waitingPartitions.length} wait for their readers`,
    );
    more = answer.more;
  }
  await delay(AFTERMATH_MS);
}

/** Waits for locks; `take` returns those since its last call. */
interface LockWaits {
  /** Milliseconds of the longest wait for a lock, of any statement but the drop's. */
  take(): { readonly longestMs: number; readonly byTheDrop: number };
}

const WAITS = `
select extract(epoch from clock_timestamp() - l.waitstart)::float8 * 1000 as ms,
       exists (select from pg_stat_activity h where h.pid = any (pg_blocking_pids(l.pid))
                  and h.query ~* '^(alter|drop) table') as by_the_drop
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
 where not l.granted and l.waitstart is not null and a.query !~* '^(alter|drop) table'`;

/** Polls which statements wait for a lock. */
async function watchLockWaits(databaseUrl: string, stack: AsyncDisposableStack): Promise<LockWaits> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  let running = true;
  let seen = { longestMs: 0, byTheDrop: 0 };
  const watching = (async () => {
    while (running) {
      const { rows } = await client.query<{ ms: number; by_the_drop: boolean }>(WAITS);
      seen.longestMs = Math.max(seen.longestMs, ...rows.map(({ ms }) => ms));
      seen.byTheDrop += rows.filter((row) => row.by_the_drop).length;
      await delay(1);
    }
  })();
  stack.defer(async () => {
    running = false;
    await watching;
    await client.end();
  });
  return {
    take() {
      const taken = seen;
      seen = { longestMs: 0, byTheDrop: 0 };
      return taken;
    },
  };
}

async function measured(
  waits: LockWaits,
  what: string,
  flow: DeliveryFlow,
  work: () => Promise<void>,
): Promise<void> {
  flow.takeLatencies();
  flow.takeLongest();
  waits.take();
  await work();
  const latencies = flow.takeLatencies().sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!.toFixed(1);
  const { name, ms } = flow.takeLongest();
  const { longestMs, byTheDrop } = waits.take();
  console.log(
    `${what}: ${latencies.length} deliveries, from publishing to arrival p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
      `longest statement of delivery ${ms.toFixed(1)} ms (${name}), ` +
      `longest wait for a lock ${longestMs.toFixed(1)} ms, waits for the drop ${byTheDrop}`,
  );
}
