import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { answered, type WebhooksFixture } from '../services/webhooks/webhooks-fixture.ts';

/** Deliveries that flow while something else is measured. */
export interface DeliveryFlow {
  /** Milliseconds from the call that publishes to where a worker has what to send, since they were last taken. */
  takeLatencies(): number[];
  /** The longest statement of dispatch since it was last taken. */
  takeLongest(): TimedStatement;
  /** Rejects with what had failed. */
  stop(): Promise<void>;
}

interface TimedStatement {
  readonly name: string;
  readonly ms: number;
}

const WORKERS = 3;

/** Publishes at a steady rate, and delivers as workers do whose receivers answer at once. */
export async function startDeliveryFlow(
  fixture: WebhooksFixture,
  eventsASecond: number,
): Promise<DeliveryFlow> {
  const tenant = { merchantId: crypto.randomUUID(), environment: Environment.LIVE };
  await fixture.subscribe(tenant);
  const publishedAt = new Map<string, number>();
  const takeLongest = timeDispatchStatements();
  let latencies: number[] = [];
  let running = true;
  const publish = async () => {
    const startedAt = performance.now();
    const calls: Promise<unknown>[] = [];
    for (let n = 0; running; n += 1) {
      await delay(Math.max(0, startedAt + (n * 1_000) / eventsASecond - performance.now()));
      const requestId = crypto.randomUUID();
      publishedAt.set(requestId, performance.now());
      calls.push(fixture.publish(tenant, crypto.randomUUID(), requestId));
    }
    await Promise.all(calls);
  };
  const deliver = async () => {
    while (running) {
      for (const { id, readyAt } of await deliverBatches(fixture)) {
        const at = publishedAt.get(id);
        if (at !== undefined) latencies.push(readyAt - at);
        publishedAt.delete(id);
      }
    }
  };
  const flow = Promise.all([publish(), ...Array.from({ length: WORKERS }, deliver)]);
  flow.catch((error: unknown) => console.error(error));
  return {
    takeLatencies() {
      const taken = latencies;
      latencies = [];
      return taken;
    },
    takeLongest,
    async stop() {
      running = false;
      await flow;
    },
  };
}

/** Delivers what there is; answers the requests that it came from, and when it was ready to be sent. */
async function deliverBatches(fixture: WebhooksFixture): Promise<{ id: string; readyAt: number }[]> {
  const { batches } = await fixture.claim(100, 1_000);
  const keys = batches.flatMap(({ id: batchId, deliveryIds }) =>
    deliveryIds.map((deliveryId) => ({ deliveryId, batchId })),
  );
  if (keys.length === 0) return [];
  const answers = await fixture.ask(keys);
  const readyAt = performance.now();
  const sends = answers.flatMap((answer, index) =>
    answer.case === 'send' ? [{ deliveryId: keys[index]!.deliveryId, send: answer.value }] : [],
  );
  await fixture.report(...sends.map(({ deliveryId, send }) => answered(deliveryId, send, 204)));
  return sends.map(({ send: { body } }) => {
    const { requestId } = JSON.parse(Buffer.from(body).toString()) as { requestId: string };
    return { id: requestId, readyAt };
  });
}

/** Times each statement that dispatch prepares, from where it is sent to its answer; for the rest of the process. */
function timeDispatchStatements(): () => TimedStatement {
  let longest: TimedStatement = { name: 'none', ms: 0 };
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = async function timed(this: pg.Client, ...call: unknown[]) {
    const name = (call[0] as { name?: string } | undefined)?.name;
    const startedAt = performance.now();
    const result = Reflect.apply(query, this, call) as Promise<unknown>;
    if (!name?.startsWith('cross_tenant_')) return result;
    const answer = await result;
    const ms = performance.now() - startedAt;
    if (ms > longest.ms) longest = { name, ms };
    return answer;
  } as typeof query;
  return () => {
    const taken = longest;
    longest = { name: 'none', ms: 0 };
    return taken;
  };
}
