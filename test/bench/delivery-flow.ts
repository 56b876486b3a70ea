import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { Services } from '../../services/server.ts';
import type { WebhooksFixture } from '../services/webhooks/webhooks-fixture.ts';
import { createLoopbackGuard } from '../support/loopback-guard.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';

/** Deliveries in the background of another measurement. */
export interface DeliveryFlow {
  /** Milliseconds from publishing to arrival, of the deliveries since the last call. */
  takeLatencies(): number[];
  /** The longest statement of lane owners and publishing since the last call. */
  takeLongest(): TimedStatement;
  /** Stops publishing. Rejects with a failure, if there was one. */
  stop(): Promise<void>;
}

interface TimedStatement {
  readonly name: string;
  readonly ms: number;
}

/** Publishes at a steady rate; the services deliver to a receiver in this process that responds at once. */
export async function startDeliveryFlow(
  services: Services,
  fixture: WebhooksFixture,
  eventsASecond: number,
): Promise<DeliveryFlow> {
  const tenant = { merchantId: crypto.randomUUID(), environment: Environment.LIVE };
  const publishedAt = new Map<string, number>();
  const receiver: Receiver = await startReceiver((_request, response) => {
    response.writeHead(204).end();
    arrived(String(receiver.requests.pop()!.body));
  });
  await fixture.subscribe(tenant, undefined, `https://hooks.example.com:${receiver.port}/`);
  const guard = createLoopbackGuard();
  services.startWebhookLanes({ live: guard, test: guard });
  const takeLongest = timeStatements();
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
  const arrived = (body: string) => {
    const { requestId } = JSON.parse(body) as { requestId: string };
    const at = publishedAt.get(requestId);
    if (at !== undefined) latencies.push(performance.now() - at);
    publishedAt.delete(requestId);
  };
  const flow = publish();
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
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** Measures each statement of deliveries, for the rest of the process. */
function timeStatements(): () => TimedStatement {
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
