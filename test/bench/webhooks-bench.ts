import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../local/text-table.ts';
import { type DatabaseWork, databaseWork, idleWorkPerSecond } from './database-work.ts';
import { type DeliveryBench, startDeliveryBench } from './delivery-bench.ts';
import type { AcceptedEvent, Load } from './event-publisher.ts';
import { startLaneOwner, WITHOUT_LANES } from './lane-owner.ts';
import { cpuSeconds } from './process-cpu.ts';
import type { WebhookSink } from './webhook-sink.ts';

interface Run {
  readonly name: string;
  readonly load: Load;
  /** Events a second of another merchant, whose endpoint hangs. */
  readonly hanging?: number;
}

const SECONDS = 15;
const WARM_UP: Run = { name: 'warm-up', load: { atATime: 64 } };
const AT_RATES: readonly Run[] = [
  { name: '50/s', load: { perSecond: 50 } },
  { name: '200/s', load: { perSecond: 200 } },
  { name: '500/s', load: { perSecond: 500 } },
];
const RUNS: readonly Run[] = [
  ...AT_RATES,
  { name: 'most, 64 calls at a time', load: { atATime: 64 } },
  // Last, because its events are still retried when the others are done.
  { name: '200/s beside 20/s that hang', load: { perSecond: 200 }, hanging: 20 },
];
const NO_WORK: DatabaseWork = { transactions: 0, walFlushes: 0 };
/** Time to finish what a start leaves to do. */
const START_MS = 20_000;
const MOST_WAIT_MS = 120_000;
/** Time to finish what follows an arrival: recording it, and Temporal's own work. */
const SETTLE_MS = 3_000;
const HEADINGS = [
  ...['accept to arrival p50/p95/p99 ms', 'deliveries/s', 'CPU s', 'deliveries/CPU s'],
  ...['transactions/event', 'WAL flushes/event'],
];

/**
 * From the answer that accepts an event to its arrival at the receiver, the CPU of all processes of the system, as
 * `npm start` runs it, and the transactions and WAL flushes of PostgreSQL without those of an idle system: at three rates,
 * at the most it takes, and beside an endpoint that hangs. Then at the three rates with publisher and lanes in separate
 * processes, as in docker-compose.yml.
 */
export async function benchWebhooks(): Promise<void> {
  console.log(
    `webhooks: events of 1 KB to a TLS receiver that takes 5 ms, ${availableParallelism()} cores, publisher and ` +
      `receiver on them too, ${SECONDS} s each`,
  );
  {
    await using stack = new AsyncDisposableStack();
    const bench = await startDeliveryBench(stack);
    await measureRuns('publisher and lanes in one process', bench, RUNS, [bench.system.pid]);
  }
  await using stack = new AsyncDisposableStack();
  const bench = await startDeliveryBench(stack, WITHOUT_LANES);
  const owner = stack.use(await startLaneOwner(bench.system));
  await measureRuns('in separate processes', bench, AT_RATES, [bench.system.pid, owner.pid]);
}

/** @param pids the processes whose CPU, with that of their descendants, is the system's. */
async function measureRuns(
  name: string,
  bench: DeliveryBench,
  runs: readonly Run[],
  pids: readonly number[],
): Promise<void> {
  // Before the first event, because the system stays busy for up to a minute after a run.
  await delay(START_MS);
  const idle = await idleWorkPerSecond(bench.system.databaseUrl);
  await measure(bench, pids, WARM_UP, NO_WORK);
  const rows: string[][] = [];
  for (const run of runs) rows.push(await measure(bench, pids, run, idle));
  console.log(`\n${textTable([[name, ...HEADINGS], ...rows])}`);
}

async function measure(
  { system, sink, publisher }: DeliveryBench,
  pids: readonly number[],
  { name, load, hanging }: Run,
  idle: DatabaseWork,
): Promise<string[]> {
  const [merchantId, slowMerchantId] = [crypto.randomUUID(), crypto.randomUUID()];
  await publisher.subscribe(merchantId, sink.promptUrl);
  if (hanging) await publisher.subscribe(slowMerchantId, sink.hangingUrl);
  await delay(SETTLE_MS);
  const before = cpuSeconds(...pids);
  const workBefore = await databaseWork(system.databaseUrl);
  const startedAt = performance.now();
  const beside = hanging ? publisher.publish(slowMerchantId, { perSecond: hanging }, SECONDS) : [];
  const accepted = await publisher.publish(merchantId, load, SECONDS);
  await beside;
  const lastAt = await whenArrived(sink, accepted);
  await delay(SETTLE_MS);
  const used = Object.entries(cpuSeconds(...pids)).map(([process, s]) => ({
    process,
    seconds: s - (before[process] ?? 0),
  }));
  const work = await databaseWork(system.databaseUrl);
  const seconds = (performance.now() - startedAt) / 1_000;
  const perEvent = (name: keyof DatabaseWork) =>
    ((work[name] - workBefore[name] - idle[name] * seconds) / accepted.length).toFixed(2);
  const total = used.reduce((sum, { seconds }) => sum + seconds, 0);
  const byProcess = used.map(({ process, seconds }) => `${process} ${seconds.toFixed(1)}`).join(', ');
  return [
    name,
    latencies(sink, accepted),
    (accepted.length / ((lastAt - startedAt) / 1_000)).toFixed(0),
    `${total.toFixed(1)} (${byProcess})`,
    (accepted.length / total).toFixed(0),
    perEvent('transactions'),
    perEvent('walFlushes'),
  ];
}

/** The events a second that the system takes, 64 calls at a time. Resolves once all have arrived. */
export async function highestRate(
  { publisher, sink }: DeliveryBench,
  merchantId: string,
  seconds: number,
): Promise<number> {
  const accepted = await publisher.publish(merchantId, { atATime: 64 }, seconds);
  await whenArrived(sink, accepted);
  return accepted.length / seconds;
}

/** Resolves with the time of the last arrival once all have arrived; throws if some do not. */
export async function whenArrived(
  { arrivals }: WebhookSink,
  accepted: readonly AcceptedEvent[],
): Promise<number> {
  const giveUpAt = performance.now() + MOST_WAIT_MS;
  const missing = () => accepted.filter(({ id }) => !arrivals.has(id)).length;
  while (missing() > 0) {
    if (performance.now() > giveUpAt) throw new Error(`${missing()} of ${accepted.length} did not arrive`);
    await delay(50);
  }
  return accepted.reduce((last, { id }) => Math.max(last, arrivals.get(id)!), 0);
}

/** Milliseconds from the answer that accepts an event to its arrival: p50 / p95 / p99. */
export function latencies({ arrivals }: WebhookSink, accepted: readonly AcceptedEvent[]): string {
  const sorted = accepted
    .map(({ id, acceptedAt }) => Math.max(arrivals.get(id)! - acceptedAt, 0))
    .sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)]!.toFixed(1);
  return `${at(0.5)} / ${at(0.95)} / ${at(0.99)}`;
}
