import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { textTable } from '../../local/text-table.ts';
import { SETTINGS } from '../../services/platform/process/settings.ts';
import { portOf } from '../support/port-of.ts';
import { median } from '../support/quantile.ts';
import { benchDatabase } from './bench-database.ts';
import {
  ask,
  type BenchProcess,
  cpuMicroseconds,
  START_TRACING,
  STOP_TRACING,
  startBenchProcess,
} from './bench-process.ts';
import { type Measured, overHttp } from './read-ratio.ts';
import { seedRefundCases } from './seed-refund-cases.ts';

/** Code that runs once in a hundred requests is compiled late. */
const WARM_UP_SECONDS = 20;
const ROUNDS = 40;
const ROUND_SECONDS = 2;
const CASES = 200;
const DEFAULT_SHARE = SETTINGS.OTEL_TRACES_SAMPLER_ARG.fallback!;
/** Values of OTEL_TRACES_SAMPLER_ARG. */
const SHARES = ['0', DEFAULT_SHARE, '1'];
const LIMITS = [1, 50];
const MOST = 1.05;
const HEADINGS = ['', 'CPU µs', 'without traces', 'ratio', ''];

/** CPU time of a read in microseconds. */
interface Round {
  readonly traced: number;
  readonly untraced: number;
}

/**
 * CPU time of gateway and services per read of the public API, by the share of requests whose trace is recorded, compared
 * with the same process while it records none: two processes with the same settings differ by some per cent. The order of
 * each round is reversed in the next, and the ratio is the median of the rounds.
 */
export async function benchTracing(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = await benchDatabase(stack);
  const headers = { authorization: `Bearer ${await seedRefundCases(settings, randomUUID(), CASES)}` };
  const collector = createServer(answerCollected).listen(0, '127.0.0.1');
  stack.defer(() => collector.closeAllConnections());
  stack.defer(() => void collector.close());
  const endpoint = `http://127.0.0.1:${await portOf(collector)}`;
  const rows: string[][] = [];
  for (const limit of LIMITS) {
    for (const share of SHARES) {
      const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share };
      const server = await startBenchProcess('services-server.ts', { ...settings, ...tracing });
      const rounds = await measure(server, overHttp(`${server.url}/v1/refund-cases?limit=${limit}`, headers));
      const exit = once(server.child, 'exit');
      server.child.kill();
      await exit;
      rows.push(rowOf(limit, share, rounds));
    }
  }
  console.log(`CPU time of a read by the share of traces, medians of ${ROUNDS} rounds`);
  console.log(textTable([HEADINGS, ...rows]));
}

/** A collector that discards the spans. */
const answerCollected: RequestListener = (request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
};

async function measure(server: BenchProcess, read: Measured): Promise<Round[]> {
  const costOf = async (isTraced: boolean) => {
    if (isTraced) await ask(server, START_TRACING);
    const before = await cpuMicroseconds(server);
    const { perSecond } = await read(ROUND_SECONDS);
    // Sends all spans first.
    if (isTraced) await ask(server, STOP_TRACING);
    return ((await cpuMicroseconds(server)) - before) / (perSecond * ROUND_SECONDS);
  };
  await read(WARM_UP_SECONDS);
  await ask(server, STOP_TRACING);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await costOf(round % 2 === 0);
    const second = await costOf(round % 2 !== 0);
    rounds.push(round % 2 ? { traced: second, untraced: first } : { traced: first, untraced: second });
  }
  return rounds;
}

function rowOf(limit: number, share: string, rounds: readonly Round[]): string[] {
  const ratio = median(rounds.map(({ traced, untraced }) => traced / untraced));
  return [
    `limit=${limit}, share ${share}`,
    median(rounds.map(({ traced }) => traced)).toFixed(0),
    median(rounds.map(({ untraced }) => untraced)).toFixed(0),
    ratio.toFixed(3),
    share === DEFAULT_SHARE && ratio > MOST ? `ABOVE ${MOST}` : '',
  ];
}
