import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { textTable } from '../../local/text-table.ts';
import { median } from '../support/quantile.ts';
import { startDeliveryBench } from './delivery-bench.ts';
import { startLaneOwner, WITHOUT_LANES } from './lane-owner.ts';
import { totalCpuSeconds } from './process-cpu.ts';
import { latencies, whenArrived } from './webhooks-bench.ts';

const SECONDS = 20;
/** The same load before each measurement: a process that has just started compiles what it runs. */
const WARM_UP_SECONDS = 15;
const ROUNDS = 3;
const PER_SECOND = 500;
/** Enough that lanes of both owners have work. */
const MERCHANTS = 100;
const SETTLE_MS = 5_000;
const HEADINGS = ['', 'accept to arrival p50/p95/p99 ms', 'CPU s', 'deliveries/CPU s', 'lanes owned'];

/**
 * The cost of a second process that owns lanes: deliveries per CPU-second at a steady rate, with one such process and
 * with two in turn, next to the services on the same machine.
 */
export async function benchOwners(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const { system, sink, publisher } = await startDeliveryBench(stack, WITHOUT_LANES);
  const client = new pg.Client({ connectionString: system.databaseUrl });
  await client.connect();
  stack.defer(() => client.end());
  await using first = await startLaneOwner(system);
  const merchants = Array.from({ length: MERCHANTS }, () => crypto.randomUUID());
  await Promise.all(merchants.map((merchantId) => publisher.subscribe(merchantId, sink.promptUrl)));

  const perCpuSecond = { one: [] as number[], two: [] as number[] };
  const rows: string[][] = [];
  const deliver = async (seconds: number) => {
    const load = { perSecond: PER_SECOND / MERCHANTS };
    const accepted = (await Promise.all(merchants.map((id) => publisher.publish(id, load, seconds)))).flat();
    await whenArrived(sink, accepted);
    await delay(SETTLE_MS);
    return accepted;
  };
  const measure = async (name: 'one' | 'two', pids: readonly number[]) => {
    await delay(SETTLE_MS);
    await deliver(WARM_UP_SECONDS);
    const before = totalCpuSeconds(...pids);
    const accepted = await deliver(SECONDS);
    const used = totalCpuSeconds(...pids) - before;
    perCpuSecond[name].push(accepted.length / used);
    rows.push([
      name,
      latencies(sink, accepted),
      used.toFixed(1),
      (accepted.length / used).toFixed(0),
      await lanesOwned(client),
    ]);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await measure('one', [system.pid, first.pid]);
    await using second = await startLaneOwner(system);
    await measure('two', [system.pid, first.pid, second.pid]);
  }
  console.log(`\n${textTable([HEADINGS, ...rows])}`);
  const ratio = median(perCpuSecond.two.map((two, round) => two / perCpuSecond.one[round]!));
  console.log(`two owners to one, deliveries per CPU-second, median over rounds: ${ratio.toFixed(2)}`);
}

/** The number of lanes of each live owner, in descending order. */
async function lanesOwned(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lanes: number }>(
    'select count(*)::int as lanes from webhooks.lane where owner_id is not null group by owner_id order by 1 desc',
  );
  return rows.map(({ lanes }) => lanes).join(' + ');
}
