import { setTimeout as delay } from 'node:timers/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeliveryStatus } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { PaymentsWorker } from '../../workflows/worker.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { startTemporal, TEMPORAL_START_MS, type TestTemporal } from '../support/temporal.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

/** What is seen of a failing delivery in the Temporal UI, and what is done to it there: by Temporal's own calls. */

const UI = 'https://temporal.example/ui';
const { SUCCEEDED, RETRYING, CANCELED } = DeliveryStatus;

let temporal: TestTemporal;
let harness: TestHarness;
let worker: PaymentsWorker;

beforeAll(async () => {
  temporal = await startTemporal();
  harness = await startHarness({
    ...loopbackSettings(),
    ...{ WEBHOOK_SCHEDULE_SANDBOX: '0s,1s,1h', TEMPORAL_UI_URL: UI },
  });
  worker = await startHarnessWorker(harness, temporal);
}, TEMPORAL_START_MS);

afterAll(async () => {
  await worker?.close();
  await harness?.close();
  await temporal?.[Symbol.asyncDispose]();
});

/** Answers pings with 204, the first events with 503, each after a wait, and those that follow with 200. */
async function startFailing(times: number, waitMs = 0): Promise<Receiver> {
  let seen = 0;
  const receiver: Receiver = await startReceiver(async (_request, response) => {
    const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
    if (type === 'webhook.ping.v1') return response.writeHead(204).end();
    seen += 1;
    const fails = seen <= times;
    if (fails) await delay(waitMs);
    return response.writeHead(fails ? 503 : 200).end();
  });
  return receiver;
}

const subscribe = (to: Receiver) => SandboxMerchant.subscribe(harness.transports.inProcess, to);
const workflowOf = (delivery: { workflowId: string }) =>
  temporal.client.workflow.getHandle(delivery.workflowId);

/** A delivery that has failed twice and waits an hour. */
async function failTwice(merchant: SandboxMerchant) {
  const eventId = await merchant.publish();
  const delivery = await vi.waitFor(
    async () => {
      const { delivery, attempts } = await merchant.delivery(eventId, RETRYING);
      expect(attempts).toMatchObject([{ httpStatus: 503 }, { httpStatus: 503 }]);
      const { raw } = await workflowOf(delivery!).describe();
      expect(raw.pendingActivities?.[0]?.lastFailure).toMatchObject({
        message: expect.stringMatching(/^attempt 2: HTTP 503; next attempt at 20/),
        stackTrace: '',
      });
      return delivery!;
    },
    { timeout: 40_000 },
  );
  return { eventId, delivery };
}

describe('a failing delivery', () => {
  it('has a workflow with a link to the Temporal UI', async () => {
    await using failing = await startFailing(9);
    const { delivery } = await failTwice(await subscribe(failing));
    expect(delivery.workflowUrl).toBe(`${UI}/namespaces/default/workflows/delivery-${delivery.id}`);
    expect((await workflowOf(delivery).describe()).status.name).toBe('RUNNING');
  });

  it('is retried at once by the signal retryNow', async () => {
    await using failing = await startFailing(2);
    const merchant = await subscribe(failing);
    const { eventId, delivery } = await failTwice(merchant);
    await workflowOf(delivery).signal('retryNow');
    const { attempts } = await merchant.delivery(eventId, SUCCEEDED);
    expect(attempts).toHaveLength(3);
  });

  it('is canceled with its workflow', async () => {
    await using failing = await startFailing(9);
    const merchant = await subscribe(failing);
    const { eventId, delivery } = await failTwice(merchant);
    await workflowOf(delivery).cancel();
    await merchant.delivery(eventId, CANCELED);
    await vi.waitFor(
      async () => expect((await workflowOf(delivery).describe()).status.name).toBe('CANCELLED'),
      10_000,
    );
    expect(merchant.arrivals).toHaveLength(2);
  });

  it('is retried on its schedule even if its first attempt outlasted its batch', async () => {
    await using failing = await startFailing(1, 3_000);
    const merchant = await subscribe(failing);
    const { attempts } = await merchant.delivery(await merchant.publish(), SUCCEEDED, 15_000);
    expect(attempts).toMatchObject([{ httpStatus: 503 }, { httpStatus: 200 }]);
    const [first, second] = attempts;
    // 1 s, 20 % more or less; without being told the workflow asks 20 s after the first began.
    expect(timestampMs(second!.startedAt!) - timestampMs(first!.endedAt!)).toBeLessThan(8_000);
  });
});
