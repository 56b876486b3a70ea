// A merchant's program: every operation once, and a webhook. Prints what it found as JSON.
import { ApiError, MerchantPayments, verifyWebhook, type WebhookEvent } from 'merchant-payments-client';

declare const process: { readonly env: Readonly<Record<string, string>> };
const setting = (name: string) => process.env[name] ?? '';

const payments = new MerchantPayments({ apiKey: setting('API_KEY'), baseUrl: setting('BASE_URL') });

const toReview: { id: string; deadline: string | null }[] = [];
for await (const { id, merchantReviewDeadlineAt } of payments.refundCases.list({
  status: 'MERCHANT_REVIEW',
  limit: 2,
})) {
  toReview.push({ id, deadline: merchantReviewDeadlineAt });
}

const product = await payments.products.get(setting('PRODUCT_ID'));
const releases = await payments.fundsReleases.list({ status: 'SCHEDULED', limit: 10 });
const month = releases.data[0]?.date.slice(0, 7);
const calendar = await payments.fundsReleases.calendar(month === undefined ? {} : { month });

const requested: string[] = [];
for await (const page of payments.advanceRequests.list({ limit: 1 }).pages()) {
  for (const { id, amount, feeAmount, netAmount } of page.data) {
    if (amount - feeAmount === netAmount) requested.push(id);
  }
}

/** Subscribes, or says why not. */
async function subscribe(url: string) {
  try {
    return await payments.webhookSubscriptions.create({ url, eventTypes: ['refund.requested.v1'] });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    switch (error.code) {
      case 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS':
      case 'INVALID_WEBHOOK_URL':
        return error.code;
      default:
        throw error;
    }
  }
}

function describe(event: WebhookEvent): string {
  switch (event.type) {
    case 'refund.requested.v1':
      return `${event.data.amount} ${event.data.currency}`;
    default:
      return event.type;
  }
}

const created = await subscribe(setting('WEBHOOK_URL'));
const again = await subscribe(setting('WEBHOOK_URL'));
const refused = await subscribe('https://10.0.0.1/hooks');
const subscriptions = await payments.webhookSubscriptions.list();
const [listed] = subscriptions.data;
const disabled = listed && (await payments.webhookSubscriptions.disable(listed.id));
const { body, headers } = JSON.parse(setting('WEBHOOK')) as { body: string; headers: Record<string, string> };
const event = await verifyWebhook(body, new Headers(headers), setting('WEBHOOK_SECRET'));

const scheduled = releases.data.map(({ date, scheduledAmountMinor }) => ({ date, scheduledAmountMinor }));
const expected = calendar.days.map(({ date, scheduledAmountMinor }) => ({ date, scheduledAmountMinor }));
console.log(
  JSON.stringify({
    toReview,
    product: {
      name: product.name,
      status: product.status,
      amounts: product.prices.map((price) => price.amountMinor),
    },
    scheduled,
    expected,
    requested,
    created,
    again,
    refused,
    disabled,
    timezone: calendar.timezone,
    event: describe(event),
  }),
);
