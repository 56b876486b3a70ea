import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { textTable } from '../../local/text-table.ts';
import { startDeliveryBench } from './delivery-bench.ts';
import type { Publisher } from './event-publisher.ts';
import { cpuSeconds } from './process-cpu.ts';
import type { WebhookSink } from './webhook-sink.ts';
import { whenArrived } from './webhooks-bench.ts';

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
/** How long deliveries are measured beside the open snapshot. Without it, a fifth of that, at least half a minute. */
const SECONDS = number('GROWTH_SECONDS', 600);
const PER_SECOND = number('GROWTH_RATE', 500);
const HELD = number('GROWTH_HELD', 10_000_000);
const HELD_SUBSCRIPTIONS = 1_000;
const STEP = 100_000;
const SETTLE_MS = 3_000;
const HEADINGS = ['', 'deliveries', 'CPU ms per delivery', 'times', 'by process, CPU s'];

/**
 * The CPU per delivery at a steady rate: in an empty system, beside deliveries on hold, and beside a snapshot that stays
 * open, so that nothing deleted meanwhile can be removed.
 */
export async function benchGrowth(): Promise<void> {
  console.log(`growth: ${PER_SECOND} events/s for ${SECONDS} s, ${HELD} deliveries on hold`);
  await using stack = new AsyncDisposableStack();
  const { system, sink, publisher } = await startDeliveryBench(stack);
  const client = new pg.Client({ connectionString: system.databaseUrl });
  await client.connect();
  stack.defer(() => client.end());
  const cost = (seconds: number) => measure(system.pid, sink, publisher, seconds);
  const short = Math.max(SECONDS / 5, 30);
  await cost(short);
  const alone = await cost(short);
  await fillHeld(client);
  const held = await cost(short);
  await client.query('begin isolation level repeatable read');
  await client.query('select from webhooks.open_delivery limit 1');
  const snapshot = await cost(SECONDS);
  await client.query('commit');
  const row = (name: string, { deliveries, cpu, byProcess }: Cost) => {
    const times = cpu / deliveries / (alone.cpu / alone.deliveries);
    return [name, `${deliveries}`, ((cpu / deliveries) * 1_000).toFixed(2), times.toFixed(2), byProcess];
  };
  const rows = [row('alone', alone), row('held', held), row('held, open snapshot', snapshot)];
  console.log(`\n${textTable([HEADINGS, ...rows])}`);
}

interface Cost {
  readonly deliveries: number;
  /** Seconds. */
  readonly cpu: number;
  readonly byProcess: string;
}

async function measure(pid: number, sink: WebhookSink, publisher: Publisher, seconds: number): Promise<Cost> {
  const merchantId = crypto.randomUUID();
  await publisher.subscribe(merchantId, sink.promptUrl);
  await delay(SETTLE_MS);
  const before = cpuSeconds(pid);
  const accepted = await publisher.publish(merchantId, { perSecond: PER_SECOND }, seconds);
  await whenArrived(sink, accepted);
  await delay(SETTLE_MS);
  const used = Object.entries(cpuSeconds(pid)).map(([name, s]) => [name, s - (before[name] ?? 0)] as const);
  return {
    deliveries: accepted.length,
    cpu: used.reduce((sum, [, s]) => sum + s, 0),
    byProcess: used.map(([name, s]) => `${name} ${s.toFixed(1)}`).join(', '),
  };
}

/** Deliveries of subscriptions that are probed and have nothing due. */
async function fillHeld(client: pg.Client): Promise<void> {
  await client.query(
    `insert into webhooks.subscription (merchant_id, environment, id, url, unique_url, event_types, state, generation,
       created_at, error, error_at, holding, probe_at, ordered)
     select uuidv7(), 'test', uuidv7(), 'https://held.example/', 'https://held.example/', '{product.updated.v1}', 'ERROR',
            1, now(), '{"cause": "DELIVERY_EXHAUSTED"}', now(), true, now(), false
       from generate_series(1, ${HELD_SUBSCRIPTIONS})`,
  );
  for (let filled = 0; filled < HELD; filled += STEP) {
    await client.query(
      `insert into webhooks.open_delivery (merchant_id, environment, id, subscription_id, lane, event_id, event_type,
         object_id, sequence, request_id, ordered, status, attempt_count, next_attempt_at)
       select merchant_id, environment, uuidv7(), id, lane, uuidv7(), 'product.updated.v1', n::text, 1, 'r', false, 'HELD',
              1, now() + interval '1 day'
         from generate_series(1, $1::int / ${HELD_SUBSCRIPTIONS}) as n cross join webhooks.subscription where holding`,
      [Math.min(STEP, HELD - filled)],
    );
  }
  await client.query('vacuum analyze webhooks.open_delivery');
}
