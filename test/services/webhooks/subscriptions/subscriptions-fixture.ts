import { afterAll } from 'vitest';
import type { CreateWebhookSubscriptionRequest } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newWrite, startHarness, type TestTenant } from '../../../support/harness.ts';
import { newUrl, webhooksFixture } from '../webhooks-fixture.ts';

/** The number of subscriptions that a merchant may have. */
export const LIMIT = 5;

/** The services of a test file, with few subscriptions to a merchant. */
export async function startSubscriptions(onStatement?: (sql: string) => void) {
  const settings = {
    SERVICES: 'webhooks',
    WEBHOOK_SUBSCRIPTION_LIMIT: String(LIMIT),
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
  };
  const harness = await startHarness(settings, onStatement);
  afterAll(() => harness.close());
  const fixture = webhooksFixture(harness, harness.transports.inProcess);
  const create = (
    tenant: TestTenant,
    request: Partial<Pick<CreateWebhookSubscriptionRequest, 'idempotencyKey' | 'url' | 'eventTypes'>> = {},
  ) =>
    fixture.subscriptions.createWebhookSubscription({
      ...newWrite(tenant),
      url: newUrl(),
      eventTypes: ['payment.succeeded.v1', 'refund.requested.v1'],
      ...request,
    });
  return { harness, fixture, create };
}
