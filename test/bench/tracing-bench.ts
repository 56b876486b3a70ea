import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { textTable } from '../../local/text-table.ts';
import { median } from '../support/quantile.ts';
import { benchDatabase } from './bench-database.ts';
import { type BenchProcess, cpuMicroseconds, startBenchProcess } from './bench-process.ts';
import { type Measured, overHttp } from './read-ratio.ts';
import { seedRefundCases } from './seed-refund-cases.ts';

/** Two processes with the same settings differ by some per cent: each share is measured in several. */
const STARTS = 5;
const ROUNDS_PER_START = 6;
const CASES = 200;
const DEFAULT_SHARE = '0.05';
const OFF = 'off';
/** Values of OTEL_TRACES_SAMPLER_ARG. */
const SHARES = [OFF, '0', DEFAULT_SHARE, '1'];
const LIMITS = [1, 50];
const MOST = 1.05;
const HEADINGS = ['', 'CPU µs', 'ratio', 'in each start', ''];

/** Gateway and services with one share of traces. */
interface Side {
  readonly share: string;
  readonly server: BenchProcess;
}

/** CPU time of a read in microseconds, by share. */
type Round = Readonly<Record<string, number>>;

/**
 * CPU time of gateway and services per read of the public API, by the share of requests whose trace is recorded, compared
 * with processes that record none. The order of each round is reversed in the next, and the ratio is the median of the rounds.
 */
export async function benchTracing(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = await benchDatabase(stack);
  const headers = { authorization: `Bearer ${await seedRefundCases(settings, randomUUID(), CASES)}` };
  const collector = createServer(answerCollected).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  stack.defer(() => collector.closeAllConnections());
  stack.defer(() => void collector.close());
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const starts: (readonly Round[])[][] = LIMITS.map(() => []);
  for (let start = 0; start < STARTS; start += 1) {
    await using sides = await startSides(settings, endpoint);
    for (const [index, limit] of LIMITS.entries()) {
      const readFrom = ({ server }: Side) =>
        overHttp(`${server.url}/v1/refund-cases?limit=${limit}`, headers);
      starts[index]!.push(await measure(sides.all, readFrom));
    }
  }
  console.log(`CPU time of a read by the share of traces, medians of ${STARTS * ROUNDS_PER_START} rounds`);
  const rows = LIMITS.flatMap((limit, index) => rowsOf(`limit=${limit}`, starts[index]!));
  console.log(textTable([HEADINGS, ...rows]));
}

async function startSides(settings: Readonly<Record<string, string>>, endpoint: string) {
  const all = await Promise.all(
    SHARES.map(async (share): Promise<Side> => {
      const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share };
      const server = await startBenchProcess('services-server.ts', {
        ...settings,
        ...(share !== OFF && tracing),
      });
      return { share, server };
    }),
  );
  const stop = ({ server: { child } }: Side) => {
    const exit = once(child, 'exit');
    child.kill();
    return exit;
  };
  return { all, [Symbol.asyncDispose]: async () => void (await Promise.all(all.map(stop))) };
}

/** Takes spans as a collector does, and keeps none. */
const answerCollected: RequestListener = (request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
};

async function measure(sides: readonly Side[], readFrom: (side: Side) => Measured): Promise<Round[]> {
  const reads = sides.map((side) => ({ ...side, read: readFrom(side) }));
  for (const { read } of reads) await read(3);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS_PER_START; round += 1) {
    const costs: Record<string, number> = {};
    for (const { share, server, read } of round % 2 ? reads.toReversed() : reads) {
      const before = await cpuMicroseconds(server);
      const { perSecond } = await read(1);
      costs[share] = ((await cpuMicroseconds(server)) - before) / perSecond;
    }
    rounds.push(costs);
  }
  return rounds;
}

function rowsOf(name: string, starts: readonly (readonly Round[])[]): string[][] {
  return SHARES.map((share) => {
    const ratioOf = (rounds: readonly Round[]) => median(rounds.map((costs) => costs[share]! / costs[OFF]!));
    const ratio = ratioOf(starts.flat());
    return [
      `${name}, share ${share}`,
      median(starts.flat().map((costs) => costs[share]!)).toFixed(0),
      ratio.toFixed(3),
      starts.map((rounds) => ratioOf(rounds).toFixed(2)).join(' '),
      share === DEFAULT_SHARE && ratio > MOST ? `ABOVE ${MOST}` : '',
    ];
  });
}
