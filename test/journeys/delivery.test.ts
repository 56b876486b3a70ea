import { setTimeout as delay } from 'node:timers/promises';
import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { PaymentsWorker } from '../../workflows/worker.ts';
import { newKey, startHarness, type TestHarness } from '../support/harness.ts';
import { startHarnessWorker } from '../support/harness-worker.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { TEMPORAL_START_MS, type TestNamespace } from '../support/temporal.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { PENDING, ACTIVE, ERROR, DISABLED } = WebhookSubscriptionState;
const { SUCCEEDED, RETRYING, EXHAUSTED, CANCELED } = DeliveryStatus;

let temporal: TestNamespace;
let harness: TestHarness;
let worker: PaymentsWorker;

beforeAll(async () => {
  temporal = await createTestNamespace();
  harness = await startHarness({ ...loopbackSettings(), WEBHOOK_SCHEDULE_SANDBOX: '0s,500ms,500ms,1s' });
  harness.services.startWebhookLanes();
  worker = await startHarnessWorker(harness, temporal);
}, TEMPORAL_START_MS);

afterAll(async () => {
  await worker?.close();
  await harness?.close();
  await temporal?.[Symbol.asyncDispose]();
});

/** Answers pings with 204, and events with these statuses in order; the last one is repeated. */
async function startScriptedReceiver(...statuses: number[]): Promise<Receiver> {
  const receiver = await startReceiver((_request, response) => {
    const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
    const status = statuses.length > 1 ? statuses[0] : statuses.at(-1);
    if (type !== 'webhook.ping.v1' && statuses.length > 1) statuses.shift();
    response.writeHead(type === 'webhook.ping.v1' ? 204 : status!).end();
  });
  return receiver;
}

const subscribe = (receiver: Receiver, eventTypes?: string[]) =>
  SandboxMerchant.subscribe(harness.transports.grpc, receiver, '/hook', eventTypes);

describe('a webhook', () => {
  it('notifies a merchant of a refund case that was opened over gRPC', async () => {
    await using receiver = await startScriptedReceiver(200);
    const merchant = await subscribe(receiver, ['refund.requested.v1']);
    await merchant.becomes(ACTIVE);
    const { refundCase } = await createClient(RefundCaseService, harness.transports.grpc).openRefundCase({
      ...merchant.tenant,
      idempotencyKey: newKey(),
      paymentIntentId: crypto.randomUUID(),
      amountMinor: 1_000n,
      paidAmountMinor: 5_000n,
      initiator: RefundInitiator.CUSTOMER,
      reason: 'does not fit',
      window: { case: 'refundWindowDays', value: 30 },
      paidAt: timestampFromDate(new Date(Date.now() - 86_400_000)),
    });
    await vi.waitFor(() => expect(merchant.arrivals).toHaveLength(1), { timeout: 40_000 });
    expect(merchant.arrivals).toMatchObject([
      {
        type: 'refund.requested.v1',
        environment: 'test',
        requestId: expect.any(String),
        sequence: 1,
        data: { id: refundCase!.id, amount: 1_000, status: 'MERCHANT_REVIEW' },
      },
    ]);
    expect(merchant.pings).toHaveLength(1);
  });

  it('arrives on schedule, under the same id, after two failed attempts', async () => {
    await using receiver = await startScriptedReceiver(500, 503, 200);
    const merchant = await subscribe(receiver);
    const eventId = await merchant.publish();
    const { attempts, delivery } = await merchant.delivery(eventId, SUCCEEDED);
    expect(attempts).toMatchObject([
      { number: 1, httpStatus: 500 },
      { number: 2, httpStatus: 503 },
      { number: 3, httpStatus: 200 },
    ]);
    const [first, second] = attempts.map(({ startedAt }) => timestampMs(startedAt!));
    // 500 ms, 20 % more or less.
    expect(second! - first!).toBeGreaterThanOrEqual(400);
    expect(merchant.arrivals.map(({ id }) => id)).toEqual([eventId, eventId, eventId]);
    expect(delivery!.workflowId).toBe(`delivery-${delivery!.id}`);
    await merchant.becomes(ACTIVE);
  });

  it('puts its subscription in ERROR when it is exhausted; the next success makes it ACTIVE again', async () => {
    await using receiver = await startScriptedReceiver(500, 500, 500, 500, 200);
    const merchant = await subscribe(receiver);
    await merchant.becomes(ACTIVE);
    const { attempts } = await merchant.delivery(await merchant.publish(), EXHAUSTED, 20_000);
    expect(attempts).toHaveLength(4);
    await merchant.becomes(ERROR);
    await merchant.delivery(await merchant.publish(), SUCCEEDED);
    await merchant.becomes(ACTIVE);
  });

  it('disables its subscription when the receiver returns 410', async () => {
    await using receiver = await startScriptedReceiver(410);
    const merchant = await subscribe(receiver);
    await merchant.becomes(ACTIVE);
    await merchant.publish();
    await merchant.becomes(DISABLED);
    expect(merchant.arrivals).toHaveLength(1);
  });

  it('is not retried once its subscription is disabled', async () => {
    await using receiver = await startScriptedReceiver(500);
    const merchant = await subscribe(receiver);
    const eventId = await merchant.publish();
    const { delivery } = await merchant.delivery(eventId, RETRYING);
    const workflow = temporal.client.workflow.getHandle(delivery!.workflowId);
    await vi.waitFor(() => workflow.describe(), 40_000);
    await merchant.disable();
    const { attempts } = await merchant.delivery(eventId, CANCELED);
    await vi.waitFor(async () => expect((await workflow.describe()).status.name).toBe('CANCELLED'), 40_000);
    const arrived = merchant.arrivals.length;
    await delay(1_500);
    expect(merchant.arrivals).toHaveLength(arrived);
    expect(attempts.length).toBe(arrived);
    await merchant.publish();
    await delay(500);
    expect(merchant.arrivals).toHaveLength(arrived);
  });

  it('is delivered before the ping has a response', async () => {
    await using receiver = await startReceiver(async (_request, response) => {
      const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
      if (type === 'webhook.ping.v1') await delay(3_000);
      response.writeHead(type === 'webhook.ping.v1' ? 500 : 204).end();
    });
    const merchant = await subscribe(receiver);
    await merchant.becomes(PENDING);
    await merchant.delivery(await merchant.publish(), SUCCEEDED, 2_000);
    await merchant.becomes(ACTIVE);
  });
});
