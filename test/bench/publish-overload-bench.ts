import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../local/text-table.ts';
import { ANSWER_HEADINGS, answerCells, CONNECTIONS, callAtRate } from './calls-at-rate.ts';
import { startDeliveryBench } from './delivery-bench.ts';
import { residentMegabytes } from './process-memory.ts';
import { highestRate, latencies, whenArrived } from './webhooks-bench.ts';

const HIGHEST_RATE_SECONDS = 10;
const PERIOD_SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 30);
const SETTLE_MS = 10_000;

/**
 * PublishEvent at three times the highest rate, in a process that also delivers: accepted and refused calls, and how far
 * deliveries fall behind.
 */
export async function benchPublishOverload(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const bench = await startDeliveryBench(stack, {}, CONNECTIONS);
  const { system, sink, publisher } = bench;
  const merchantId = crypto.randomUUID();
  await publisher.subscribe(merchantId, sink.promptUrl);
  await delay(SETTLE_MS);
  // The first run warms up.
  await highestRate(bench, merchantId, HIGHEST_RATE_SECONDS);
  const most = await highestRate(bench, merchantId, HIGHEST_RATE_SECONDS);
  console.log(`PublishEvent: at most ${most.toFixed(0)}/s, 64 at a time`);
  const rows: string[][] = [];
  for (const [name, perSecond] of [
    ['half', most / 2],
    ['three times', most * 3],
    ['half, at once', most / 2],
  ] as const) {
    const answers = await callAtRate(() => publisher.offer(merchantId), perSecond, PERIOD_SECONDS);
    const accepted = answers.flatMap(({ outcome }) => (typeof outcome === 'object' ? [outcome] : []));
    const lastAcceptedAt = accepted.reduce((last, { acceptedAt }) => Math.max(last, acceptedAt), 0);
    const lastAt = await whenArrived(sink, accepted);
    rows.push([
      name,
      ...answerCells(answers, PERIOD_SECONDS),
      latencies(sink, accepted),
      Math.max(lastAt - lastAcceptedAt, 0).toFixed(0),
      residentMegabytes(system.pid).toFixed(0),
    ]);
  }
  const headings = ['accept to arrival p50/p95/p99 ms', 'last arrival after ms', 'process MB'];
  console.log(textTable([['', ...ANSWER_HEADINGS, ...headings], ...rows]));
}
