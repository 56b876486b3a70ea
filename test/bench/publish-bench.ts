import { createHash, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { textTable } from '../../local/text-table.ts';
import { median } from '../support/quantile.ts';
import { benchDatabase } from './bench-database.ts';
import { type BenchProcess, cpuMicroseconds, startBenchProcess } from './bench-process.ts';
import type { Load } from './event-publisher.ts';
import { cpuSeconds } from './process-cpu.ts';
import { batchCaller, CALLERS, makeCalls, type PublishCaller } from './publish-calls.ts';

const ROUNDS = 3;
/** By count, not by time: on a busy machine, code that has not been compiled yet would be measured. */
const WARM_UP_EVENTS = 3_000;
const ROUND_EVENTS = 1_500;
const EVENTS_PER_CALL = 100;
const TOKEN = 'token-of-the-bench';
const MOST: Load = { atATime: 64 };
const LOADS: Readonly<Record<string, Load>> = { '64 at a time': MOST, '500/s': { perSecond: 500 } };
/** The folder of another checkout. */
const BEFORE = process.env.BENCH_BEFORE;
const BASELINE = BEFORE ? 'before' : 'bare';
const HEADINGS = ['', 'events/s', 'CPU µs', `${BASELINE} CPU µs`, 'ratio', 'PostgreSQL CPU µs', BASELINE];

/** The service or its baseline, and a caller of it. */
interface Side {
  readonly server: BenchProcess;
  readonly caller: PublishCaller;
  readonly eventsPerCall: number;
}

/** CPU time per event. */
interface Cost {
  readonly perSecond: number;
  /** Of the process that is called. */
  readonly serverUs: number;
  readonly postgresUs: number;
}

/**
 * CPU time of the service per event that it accepts, compared with a bare Connect handler that publishes with one prepared
 * statement. Rounds alternate, and the ratio is their median, so that a machine whose speed drifts favors neither. With
 * BENCH_BEFORE, the folder of another checkout, the baseline is the service of that checkout, on a database of its own.
 */
export async function benchPublish(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const database = await benchDatabase(stack);
  const settings = { ...database, SERVICES: 'webhooks', SERVICE_TOKENS: serviceToken(), LOG_LEVEL: 'fatal' };
  const start = async (file: string, more?: Record<string, string>, checkout?: string) => {
    const server = await startBenchProcess(file, { ...settings, ...more }, checkout);
    stack.defer(() => void server.child.kill());
    return server;
  };
  const sideOf = (server: BenchProcess, caller: PublishCaller, eventsPerCall = 1): Side => {
    stack.defer(() => caller.close());
    return { server, caller, eventsPerCall };
  };
  const manySideOf = (server: BenchProcess) =>
    sideOf(server, batchCaller(server.url, TOKEN, EVENTS_PER_CALL), EVENTS_PER_CALL);
  const service = await start('internal-api-server.ts');
  const before = BEFORE
    ? await start('internal-api-server.ts', await benchDatabase(stack, BEFORE), BEFORE)
    : undefined;
  console.log(`publish: events of 1 KB, ${availableParallelism()} cores, callers and PostgreSQL on them too`);
  const rows: string[][] = [];
  for (const [protocol, callerOf] of Object.entries(CALLERS)) {
    const version = protocol === 'grpc' ? '2' : '1.1';
    const other = before ?? (await start('bare-publish-server.ts', { HTTP_VERSION: version }));
    const [ours, baseline] = [service, other].map((server) => sideOf(server, callerOf(server.url, TOKEN)));
    for (const side of [ours!, baseline!]) await measure(side, MOST, WARM_UP_EVENTS);
    for (const [name, load] of Object.entries(LOADS)) {
      rows.push([`PublishEvent, ${protocol}, ${name}`, ...(await compare(ours!, baseline!, load))]);
    }
    if (protocol !== 'grpc') continue;
    const many = manySideOf(service);
    const manyBaseline = before ? manySideOf(before) : baseline!;
    for (const side of [many, manyBaseline]) await measure(side, { atATime: 4 }, WARM_UP_EVENTS);
    const name = `PublishEvents, ${protocol}, ${EVENTS_PER_CALL} events a call, 4 at a time`;
    rows.push([name, ...(await compare(many, manyBaseline, { atATime: 4 }))]);
  }
  console.log(`\n${textTable([HEADINGS, ...rows])}`);
}

const serviceToken = () => `bench|${createHash('sha256').update(TOKEN).digest('hex')}|publish:product`;

async function compare(service: Side, baseline: Side, load: Load): Promise<string[]> {
  const rounds: { ours: Cost; theirs: Cost }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = await measure(service, load, ROUND_EVENTS);
    rounds.push({ ours, theirs: await measure(baseline, load, ROUND_EVENTS) });
  }
  const middle = (numberOf: (round: (typeof rounds)[number]) => number, digits = 0) =>
    median(rounds.map(numberOf)).toFixed(digits);
  return [
    middle(({ ours }) => ours.perSecond),
    middle(({ ours }) => ours.serverUs),
    middle(({ theirs }) => theirs.serverUs),
    middle(({ ours, theirs }) => ours.serverUs / theirs.serverUs, 2),
    middle(({ ours }) => ours.postgresUs),
    middle(({ theirs }) => theirs.postgresUs),
  ];
}

async function measure({ server, caller, eventsPerCall }: Side, load: Load, events: number): Promise<Cost> {
  const merchantId = randomUUID();
  const postgresBefore = postgresSeconds();
  const before = await cpuMicroseconds(server);
  const startedAt = performance.now();
  await makeCalls(events / eventsPerCall, load, () => caller.publish(merchantId));
  const perSecond = events / ((performance.now() - startedAt) / 1_000);
  const serverUs = ((await cpuMicroseconds(server)) - before) / events;
  return { perSecond, serverUs, postgresUs: ((postgresSeconds() - postgresBefore) * 1_000_000) / events };
}

/** PostgreSQL is a child of this process. */
const postgresSeconds = () => cpuSeconds(process.pid).postgres ?? 0;
