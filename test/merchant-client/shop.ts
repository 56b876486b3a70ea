// A merchant's program: every operation once, typed by the document. Prints what it found as JSON.
import { randomUUID } from 'node:crypto';
import { bodyOf, payments } from './payments.ts';

const productId = process.env.PRODUCT_ID!;
const webhookUrl = process.env.WEBHOOK_URL!;

/** All cases that wait for the merchant, two to a page. */
async function* casesToReview() {
  for (let after: string | undefined; ; ) {
    const query = { status: 'MERCHANT_REVIEW', limit: 2, ...(after && { after }) } as const;
    const page = bodyOf(await payments.GET('/v1/refund-cases', { params: { query } }));
    yield* page.data;
    if (page.nextCursor === null) return;
    after = page.nextCursor;
  }
}

/** All requests for advances; the last page has no nextCursor. */
async function* advances() {
  let after: string | undefined;
  do {
    const query = { limit: 1, ...(after && { after }) };
    const page = bodyOf(await payments.GET('/v1/advance/requests', { params: { query } }));
    yield* page.data;
    after = page.nextCursor;
  } while (after !== undefined);
}

/** Subscribes, and takes a subscription that is already there for an answer: told by the error's code. */
async function subscribe(url: string) {
  const { data, error } = await payments.POST('/v1/webhook-subscriptions', {
    params: { header: { 'Idempotency-Key': randomUUID() } },
    body: { url, eventTypes: ['refund.requested.v1', 'payment.succeeded.v1'] },
  });
  if (data) return data;
  switch (error.code) {
    case 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS':
    case 'INVALID_WEBHOOK_URL':
      return error.code;
    default:
      throw new Error(error.detail);
  }
}

const toReview: { id: string; deadline: string | null }[] = [];
for await (const { id, merchantReviewDeadlineAt: deadline } of casesToReview())
  toReview.push({ id, deadline });

const product = bodyOf(await payments.GET('/v1/products/{id}', { params: { path: { id: productId } } }));
const releases = bodyOf(
  await payments.GET('/v1/funds/releases', { params: { query: { status: 'SCHEDULED', limit: 10 } } }),
);
const month = releases.data[0]?.date.slice(0, 7);
const calendar = bodyOf(
  await payments.GET('/v1/funds/releases/calendar', { params: { query: { ...(month && { month }) } } }),
);
const requested: string[] = [];
for await (const { id, amount, feeAmount, netAmount } of advances()) {
  if (amount - feeAmount === netAmount) requested.push(id);
}

const created = await subscribe(webhookUrl);
const again = await subscribe(webhookUrl);
const refused = await subscribe('https://10.0.0.1/hooks');
const subscriptions = bodyOf(await payments.GET('/v1/webhook-subscriptions'));
const [listed] = subscriptions.data;
const disabled =
  listed &&
  bodyOf(
    await payments.POST('/v1/webhook-subscriptions/{id}/disable', { params: { path: { id: listed.id } } }),
  );

const prices = product.prices.map(({ amountMinor, currency }) => `${amountMinor} ${currency}`);
const scheduled = releases.data.map(({ date, scheduledAmountMinor }) => ({ date, scheduledAmountMinor }));
const expected = calendar.days.map(({ date, scheduledAmountMinor }) => ({ date, scheduledAmountMinor }));
console.log(
  JSON.stringify({
    toReview,
    product: { name: product.name, status: product.status, prices },
    scheduled,
    expected,
    requested,
    created,
    again,
    refused,
    disabled,
    timezone: calendar.timezone,
  }),
);
