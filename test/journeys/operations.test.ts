import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  DeliveryService,
  DeliveryStatus,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { PaymentsWorker } from '../../workflows/worker.ts';
import { newKey, startHarness, type TestHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { ACTIVE } = WebhookSubscriptionState;
const { SUCCEEDED, RETRYING, HELD, CANCELED } = DeliveryStatus;

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await startTemporal();
}, TEMPORAL_START_MS);
afterAll(() => temporal?.[Symbol.asyncDispose]());

/** Services and a worker on the real Temporal. */
class RunningHarness {
  readonly harness: TestHarness;
  readonly #worker: PaymentsWorker;

  private constructor(harness: TestHarness, worker: PaymentsWorker) {
    this.harness = harness;
    this.#worker = worker;
  }

  static async start(settings: Record<string, string>): Promise<RunningHarness> {
    const harness = await startHarness({ ...loopbackSettings(), ...settings });
    harness.services.startWebhookLanes();
    const worker = await startHarnessWorker(harness, temporal);
    return new RunningHarness(harness, worker);
  }

  get deliveries() {
    return createClient(DeliveryService, this.harness.transports.grpc);
  }

  get subscriptions() {
    return createClient(WebhookSubscriptionService, this.harness.transports.grpc);
  }

  async [Symbol.asyncDispose]() {
    await this.#worker.close();
    await this.harness.close();
  }
}

/** An endpoint that accepts pings and answers events as configured. */
class Endpoint {
  status = 200;
  /** When events arrived, by performance.now(). */
  readonly times: number[] = [];
  receiver!: Receiver;

  static async start(status = 200): Promise<Endpoint> {
    const endpoint = new Endpoint();
    endpoint.status = status;
    endpoint.receiver = await startReceiver((_request, response) => {
      const { type } = JSON.parse(String(endpoint.receiver.requests.at(-1)!.body));
      const isPing = type === 'webhook.ping.v1';
      if (!isPing) endpoint.times.push(performance.now());
      response.writeHead(isPing ? 204 : endpoint.status).end();
    });
    return endpoint;
  }

  [Symbol.asyncDispose]() {
    return this.receiver[Symbol.asyncDispose]();
  }
}

async function activeMerchant({ harness }: RunningHarness, { receiver }: Endpoint): Promise<SandboxMerchant> {
  const merchant = await SandboxMerchant.subscribe(harness.transports.grpc, receiver);
  await merchant.becomes(ACTIVE, 20_000);
  return merchant;
}

const ofSubscription = ({ tenant, subscriptionId }: SandboxMerchant) => ({
  ...tenant,
  subscriptionId,
  idempotencyKey: newKey(),
});

const runningRetries = async ({ subscriptionId }: SandboxMerchant) =>
  (
    await temporal.client.workflow.count(
      `SubscriptionIds = '${subscriptionId}' and WorkflowType = 'retryDelivery' and ExecutionStatus = 'Running'`,
    )
  ).count;

describe('a failing delivery', () => {
  let running: RunningHarness;
  beforeAll(async () => {
    running = await RunningHarness.start({ WEBHOOK_SCHEDULE_SANDBOX: '0s,1h,1h,1h' });
  });
  afterAll(() => running?.[Symbol.asyncDispose]());

  it('is retried now instead of in an hour, and then waits an hour again', async () => {
    await using endpoint = await Endpoint.start(500);
    const merchant = await activeMerchant(running, endpoint);
    const eventId = await merchant.publish();
    const { delivery } = await merchant.delivery(eventId, RETRYING);
    const again = () =>
      running.deliveries.retryDelivery({
        ...merchant.tenant,
        deliveryId: delivery!.id,
        idempotencyKey: newKey(),
      });
    await again();
    await vi.waitFor(() => expect(endpoint.times).toHaveLength(2), 40_000);
    await vi.waitFor(async () => {
      const { attempts } = await merchant.delivery(eventId, RETRYING);
      expect(attempts).toMatchObject([{ httpStatus: 500 }, { httpStatus: 500 }]);
    }, 40_000);
    await delay(500);
    expect(endpoint.times).toHaveLength(2);
    endpoint.status = 204;
    await again();
    const { attempts } = await merchant.delivery(eventId, SUCCEEDED);
    expect(attempts).toHaveLength(3);
    // It may be started only now, and then ends at once.
    const workflow = temporal.client.workflow.getHandle(delivery!.workflowId);
    await vi.waitFor(async () => expect(await workflow.result()).toBe('SUCCEEDED'), 40_000);
  });

  it('is retried now even if its workflow is gone', async () => {
    await using endpoint = await Endpoint.start(500);
    const merchant = await activeMerchant(running, endpoint);
    const eventId = await merchant.publish();
    const { delivery } = await merchant.delivery(eventId, RETRYING);
    await vi.waitFor(
      () => temporal.client.workflow.getHandle(delivery!.workflowId).terminate('lost'),
      10_000,
    );
    endpoint.status = 204;
    await running.deliveries.retryDelivery({
      ...merchant.tenant,
      deliveryId: delivery!.id,
      idempotencyKey: newKey(),
    });
    await merchant.delivery(eventId, SUCCEEDED);
  });

  it('is not sent again once it is canceled, and its workflow ends as canceled', async () => {
    await using endpoint = await Endpoint.start(500);
    const merchant = await activeMerchant(running, endpoint);
    const eventId = await merchant.publish();
    const { delivery } = await merchant.delivery(eventId, RETRYING);
    await running.deliveries.cancelDelivery({
      ...merchant.tenant,
      deliveryId: delivery!.id,
      idempotencyKey: newKey(),
    });
    await merchant.delivery(eventId, CANCELED);
    const workflow = temporal.client.workflow.getHandle(delivery!.workflowId);
    await vi.waitFor(async () => expect((await workflow.describe()).status.name).toBe('CANCELLED'), 40_000);
    expect(endpoint.times).toHaveLength(1);
  });
});

/** A merchant that gets events all the time, until `stop` returns them. */
async function busyMerchant(running: RunningHarness, endpoint: Endpoint) {
  const merchant = await activeMerchant(running, endpoint);
  const eventIds: string[] = [];
  const stopping = new AbortController();
  const publishing = (async () => {
    while (!stopping.signal.aborted) {
      eventIds.push(await merchant.publish());
      await delay(20);
    }
  })();
  const stop = async () => {
    stopping.abort();
    await publishing;
    return eventIds;
  };
  return { merchant, stop };
}

/** Pauses; nothing may arrive later than a second after the response. */
async function pauseAndWatch(running: RunningHarness, merchant: SandboxMerchant, endpoint: Endpoint) {
  await running.subscriptions.pauseWebhookSubscription(ofSubscription(merchant));
  const promised = performance.now() + 1_000;
  await delay(4_000);
  return endpoint.times.filter((time) => time > promised);
}

describe('a paused subscription', () => {
  let running: RunningHarness;
  beforeAll(async () => {
    running = await RunningHarness.start({
      WEBHOOK_SCHEDULE_SANDBOX: '0s,500ms,500ms,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s',
      WEBHOOK_RETRY_WORKFLOW_LIMIT: '5',
    });
  });
  afterAll(() => running?.[Symbol.asyncDispose]());

  it('is sent nothing from one second after the response on, and everything once it is resumed', async () => {
    await using endpoint = await Endpoint.start();
    const { merchant, stop } = await busyMerchant(running, endpoint);
    await vi.waitFor(() => expect(endpoint.times.length).toBeGreaterThan(20), 40_000);
    expect(await pauseAndWatch(running, merchant, endpoint)).toEqual([]);
    await running.subscriptions.resumeWebhookSubscription(ofSubscription(merchant));
    await merchant.received(await stop(), 40_000);
  });

  it('is sent nothing while its endpoint fails either, and its retry workflows end', async () => {
    await using endpoint = await Endpoint.start(500);
    const { merchant, stop } = await busyMerchant(running, endpoint);
    const listed = async (status: DeliveryStatus) =>
      (await running.deliveries.listDeliveries({ ...merchant.tenant, status })).deliveries.length;
    await vi.waitFor(async () => {
      expect(await listed(RETRYING)).toBeGreaterThan(0);
      expect(await listed(HELD)).toBeGreaterThan(5);
    }, 40_000);
    expect(await pauseAndWatch(running, merchant, endpoint)).toEqual([]);
    expect(await listed(RETRYING)).toBe(0);
    await vi.waitFor(async () => expect(await runningRetries(merchant)).toBe(0), 40_000);
    endpoint.status = 200;
    await running.subscriptions.resumeWebhookSubscription(ofSubscription(merchant));
    await merchant.received(await stop(), 40_000);
    await vi.waitFor(async () => expect(await listed(HELD)).toBe(0), 40_000);
  });

  it('can be paused and resumed while Temporal is unavailable', async () => {
    await using endpoint = await Endpoint.start();
    const { merchant, stop } = await busyMerchant(running, endpoint);
    await vi.waitFor(() => expect(endpoint.times.length).toBeGreaterThan(5), 40_000);
    await temporal.kill();
    await running.subscriptions.pauseWebhookSubscription(ofSubscription(merchant));
    const promised = performance.now() + 1_000;
    await temporal.start();
    await delay(3_000);
    expect(endpoint.times.filter((time) => time > promised)).toEqual([]);
    await temporal.kill();
    await running.subscriptions.resumeWebhookSubscription(ofSubscription(merchant));
    await temporal.start();
    await merchant.received(await stop(), 40_000);
  });
});
