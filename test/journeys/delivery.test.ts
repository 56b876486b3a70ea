import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@connectrpc/connect';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { RefundCaseService, RefundInitiator } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  DeliveryStatus,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { daysAgo } from '../support/ago.ts';
import { newWrite, startHarness } from '../support/harness.ts';
import { loopbackSettings } from '../support/loopback-settings.ts';
import { type Receiver, startReceiver } from '../support/tls-receiver.ts';
import { SandboxMerchant } from './sandbox-merchant.ts';

const { PENDING, ACTIVE } = WebhookSubscriptionState;

/** Without a worker: first attempts do not need Temporal. */
const harness = await startHarness(loopbackSettings());
harness.services.startWebhookLanes();
afterAll(() => harness.close());

const subscribe = (receiver: Receiver, eventTypes?: string[]) =>
  SandboxMerchant.subscribe(harness.transports.grpc, receiver, '/hook', eventTypes);

describe('a webhook', () => {
  it('notifies a merchant of a refund case that was opened over gRPC', async () => {
    await using receiver = await startReceiver();
    const merchant = await subscribe(receiver, ['refund.requested.v1']);
    await merchant.becomes(ACTIVE);
    const { refundCase } = await createClient(RefundCaseService, harness.transports.grpc).openRefundCase({
      ...newWrite(merchant.tenant),
      paymentIntentId: crypto.randomUUID(),
      amountMinor: 1_000n,
      paidAmountMinor: 5_000n,
      initiator: RefundInitiator.CUSTOMER,
      reason: 'does not fit',
      window: { case: 'refundWindowDays', value: 30 },
      paidAt: daysAgo(1),
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

  it('is delivered before the ping has a response', async () => {
    await using receiver = await startReceiver(async (_request, response) => {
      const { type } = JSON.parse(String(receiver.requests.at(-1)!.body));
      if (type === 'webhook.ping.v1') await delay(3_000);
      response.writeHead(type === 'webhook.ping.v1' ? 500 : 204).end();
    });
    const merchant = await subscribe(receiver);
    await merchant.becomes(PENDING);
    await merchant.delivery(await merchant.publish(), DeliveryStatus.SUCCEEDED, 2_000);
    await merchant.becomes(ACTIVE);
  });
});
