import { setTimeout as delay } from 'node:timers/promises';
import { textTable } from '../../local/text-table.ts';
import { startDeliveryBench } from './delivery-bench.ts';
import { totalCpuSeconds } from './process-cpu.ts';
import { residentMegabytes } from './process-memory.ts';
import { highestRate, latencies, whenArrived } from './webhooks-bench.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 30);
const PERIOD_MINUTES = Math.min(5, MINUTES);
const MOST_SECONDS = 20;
const SETTLE_MS = 5_000;
const HEADINGS = [
  'after minutes',
  'events',
  'accept to arrival p50/p95/p99 ms',
  'last arrival after ms',
  'CPU ms per delivery',
  'process MB',
];

/**
 * Half of the events a second that the system takes at most, for half an hour, in periods of five minutes: latency, CPU
 * and memory should be those of the first.
 */
export async function benchSoak(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const bench = await startDeliveryBench(stack);
  const { system, sink, publisher } = bench;
  const merchantId = crypto.randomUUID();
  await publisher.subscribe(merchantId, sink.promptUrl);
  await delay(SETTLE_MS);
  const most = async () => {
    const perSecond = await highestRate(bench, merchantId, MOST_SECONDS);
    await delay(SETTLE_MS);
    return perSecond;
  };
  // The first run warms up.
  await most();
  const mostPerSecond = await most();
  const perSecond = Math.floor(mostPerSecond / 2);
  console.log(`soak: ${perSecond} events/s for ${MINUTES} minutes, half of ${mostPerSecond.toFixed(0)}/s`);

  const rows: string[][] = [];
  for (let minutes = PERIOD_MINUTES; minutes <= MINUTES; minutes += PERIOD_MINUTES) {
    const cpuBefore = totalCpuSeconds(system.pid);
    const accepted = await publisher.publish(merchantId, { perSecond }, PERIOD_MINUTES * 60);
    const lastAcceptedAt = accepted.reduce((last, { acceptedAt }) => Math.max(last, acceptedAt), 0);
    const lastAt = await whenArrived(sink, accepted);
    const row = [
      `${minutes}`,
      `${accepted.length}`,
      latencies(sink, accepted),
      Math.max(lastAt - lastAcceptedAt, 0).toFixed(0),
      (((totalCpuSeconds(system.pid) - cpuBefore) / accepted.length) * 1_000).toFixed(2),
      residentMegabytes(system.pid).toFixed(0),
    ];
    console.log(row.join('  '));
    rows.push(row);
    sink.forgetArrivals();
  }
  console.log(`\n${textTable([HEADINGS, ...rows])}`);
}
