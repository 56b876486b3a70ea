// What must not compile. Each line that does is an error of its own: an unused @ts-expect-error.
import { bodyOf, payments } from './payments.ts';

export async function misuse(id: string) {
  // @ts-expect-error there is no such path
  await payments.GET('/v1/refunds');
  // @ts-expect-error no state of a case is named so
  await payments.GET('/v1/refund-cases', { params: { query: { status: 'DONE' } } });
  // @ts-expect-error there is no such filter
  await payments.GET('/v1/refund-cases', { params: { query: { state: 'FAILED' } } });
  // @ts-expect-error a limit is a number
  await payments.GET('/v1/advance/requests', { params: { query: { limit: '5' } } });
  // @ts-expect-error the id is missing
  await payments.GET('/v1/products/{id}');

  const url = 'https://shop.example/hooks';
  // @ts-expect-error the Idempotency-Key is missing
  await payments.POST('/v1/webhook-subscriptions', { body: { url, eventTypes: ['refund.requested.v1'] } });
  const params = { header: { 'Idempotency-Key': '1' } };
  // @ts-expect-error a creation names its event types
  await payments.POST('/v1/webhook-subscriptions', { params, body: { url } });
  // @ts-expect-error nobody publishes this event
  await payments.POST('/v1/webhook-subscriptions', { params, body: { url, eventTypes: ['refund.opened'] } });

  const product = bodyOf(await payments.GET('/v1/products/{id}', { params: { path: { id } } }));
  // @ts-expect-error a product that is not archived has no archivedAt
  new Date(product.archivedAt);
  // @ts-expect-error products have no such field
  product.price;

  const { error } = await payments.GET('/v1/products/{id}', { params: { path: { id } } });
  // @ts-expect-error no error is called so
  return error?.code === 'PRODUCT_MISSING';
}
