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

const ROUNDS = 24;
const CASES = 200;
const DEFAULT_SHARE = '0.05';
const OFF = 'off';
/** Values of OTEL_TRACES_SAMPLER_ARG. */
const SHARES = [OFF, '0', DEFAULT_SHARE, '1'];
const MOST = 1.05;
const HEADINGS = ['', 'CPU µs', 'ratio', ''];

/** Gateway and services with one share of traces. */
interface Side {
  readonly share: string;
  readonly server: BenchProcess;
}

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
  const sides = await Promise.all(
    SHARES.map(async (share): Promise<Side> => {
      const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share };
      const server = await startBenchProcess('services-server.ts', {
        ...settings,
        ...(share !== OFF && tracing),
      });
      stack.defer(() => void server.child.kill());
      return { share, server };
    }),
  );
  console.log(`CPU time of a read by the share of traces, medians of ${ROUNDS} rounds`);
  const rows: string[][] = [];
  for (const limit of [1, 50]) {
    const readFrom = ({ server }: Side) => overHttp(`${server.url}/v1/refund-cases?limit=${limit}`, headers);
    rows.push(
      ...(await compare(sides, readFrom)).map(([name, ...row]) => [`limit=${limit}, ${name}`, ...row]),
    );
  }
  console.log(textTable([HEADINGS, ...rows]));
}

/** Takes spans as a collector does, and keeps none. */
const answerCollected: RequestListener = (request, response) => {
  request.resume();
  request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
};

async function compare(sides: readonly Side[], readFrom: (side: Side) => Measured): Promise<string[][]> {
  const reads = sides.map((side) => ({ ...side, read: readFrom(side) }));
  for (const { read } of reads) await read(3);
  const rounds: Readonly<Record<string, number>>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const costs: Record<string, number> = {};
    for (const { share, server, read } of round % 2 ? reads.toReversed() : reads) {
      const before = await cpuMicroseconds(server);
      const { perSecond } = await read(1);
      costs[share] = ((await cpuMicroseconds(server)) - before) / perSecond;
    }
    rounds.push(costs);
  }
  return sides.map(({ share }) => {
    const ratio = median(rounds.map((costs) => costs[share]! / costs[OFF]!));
    const fault = share === DEFAULT_SHARE && ratio > MOST ? `ABOVE ${MOST}` : '';
    return [
      `share ${share}`,
      median(rounds.map((costs) => costs[share]!)).toFixed(0),
      ratio.toFixed(3),
      fault,
    ];
  });
}
