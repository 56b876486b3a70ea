// Misuse that must not compile. Each line that compiles is an error: an unused @ts-expect-error.
import { ApiError, type MerchantPayments, verifyWebhook, type WebhookEvent } from 'merchant-payments-client';

export async function misuse(payments: MerchantPayments, event: WebhookEvent) {
  // @ts-expect-error there is no such resource
  await payments.refunds.list();
  // @ts-expect-error refund cases are opened by their customers, or in the dashboard
  await payments.refundCases.create({});
  // @ts-expect-error cases have no such status
  await payments.refundCases.list({ status: 'DONE' });
  // @ts-expect-error there is no such filter
  await payments.refundCases.list({ state: 'FAILED' });
  // @ts-expect-error a limit is a number
  await payments.advanceRequests.list({ limit: '5' });
  // @ts-expect-error the id is missing
  await payments.products.get();

  const url = 'https://shop.example/hooks';
  // @ts-expect-error a creation names its event types
  await payments.webhookSubscriptions.create({ url });
  // @ts-expect-error nobody publishes this event
  await payments.webhookSubscriptions.create({ url, eventTypes: ['refund.opened'] });
  // @ts-expect-error nothing is created
  await payments.webhookSubscriptions.list({}, { idempotencyKey: '1' });

  const product = await payments.products.get('p1');
  // @ts-expect-error a product that is not archived has no archivedAt
  new Date(product.archivedAt);
  // @ts-expect-error products have no such field
  product.price;

  // @ts-expect-error the body has been parsed
  await verifyWebhook({ id: 'e1' }, new Headers(), 'whsec_AAAA');
  // @ts-expect-error which data it has depends on the type
  event.data.amount;
  // @ts-expect-error there is no such event
  event.type === 'refund.opened';

  const failure: unknown = undefined;
  // @ts-expect-error there is no such error
  return failure instanceof ApiError && failure.code === 'PRODUCT_MISSING';
}
