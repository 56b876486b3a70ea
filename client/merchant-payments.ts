import type { List } from './pages.ts';
import type { components, operations } from './payments-api.ts';
import { type CallOptions, type CreateOptions, Requests } from './requests.ts';
import { type Environment, type MerchantPaymentsOptions, readSettings } from './settings.ts';

type Schemas = components['schemas'];
type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

/**
 * The API of one environment. Every method rejects with an ApiError if the API refuses, and with a ConnectionError if no
 * response arrives, both after the retries that the API's guide about errors allows.
 */
export class MerchantPayments {
  /** The environment of the key. */
  readonly environment: Environment;
  readonly refundCases: RefundCases;
  readonly products: Products;
  readonly fundsReleases: FundsReleases;
  readonly advanceRequests: AdvanceRequests;
  readonly webhookSubscriptions: WebhookSubscriptions;

  /** Throws a TypeError for options that cannot work, and for a live key in a browser. */
  constructor(options: MerchantPaymentsOptions) {
    const settings = readSettings(options);
    const requests = new Requests(settings);
    this.environment = settings.environment;
    this.refundCases = new RefundCases(requests);
    this.products = new Products(requests);
    this.fundsReleases = new FundsReleases(requests);
    this.advanceRequests = new AdvanceRequests(requests);
    this.webhookSubscriptions = new WebhookSubscriptions(requests);
  }
}

class Resource {
  protected readonly requests: Requests;

  constructor(requests: Requests) {
    this.requests = requests;
  }
}

class RefundCases extends Resource {
  /** Open and closed cases that match all filters, newest first. Needs the scope `refunds:read`. */
  list(query?: Query<'listRefundCases'>, options?: CallOptions): List<Schemas['RefundCasePage']> {
    return this.requests.list('/v1/refund-cases', query, options);
  }
}

class Products extends Resource {
  /** A product with its current prices and offers. Needs the scope `catalog:read`. */
  get(id: string, options?: CallOptions): Promise<Schemas['Product']> {
    return this.requests.send({ method: 'GET', path: `/v1/products/${segmentOf(id)}` }, options);
  }
}

class FundsReleases extends Resource {
  /** Past and future releases, ascending by date and status. Needs the scope `funds:read`. */
  list(query?: Query<'listFundsReleases'>, options?: CallOptions): List<Schemas['FundsReleasePage']> {
    return this.requests.list('/v1/funds/releases', query, options);
  }

  /** What is released on each day of a month. Needs the scope `funds:read`. */
  calendar(query?: Query<'getReleaseCalendar'>, options?: CallOptions): Promise<Schemas['ReleaseCalendar']> {
    return this.requests.send({ method: 'GET', path: '/v1/funds/releases/calendar', query }, options);
  }
}

class AdvanceRequests extends Resource {
  /** Requests for advances, newest first. Needs the scope `advances:read`. */
  list(query?: Query<'listAdvanceRequests'>, options?: CallOptions): List<Schemas['AdvanceRequestPage']> {
    return this.requests.list('/v1/advance/requests', query, options);
  }
}

/** All of these need the scope `webhooks:manage`. */
class WebhookSubscriptions extends Resource {
  /** Subscribes a URL to event types. Retries create nothing twice: they have the same idempotency key. */
  create(
    body: Schemas['WebhookSubscriptionCreation'],
    { idempotencyKey = crypto.randomUUID(), ...options }: CreateOptions = {},
  ): Promise<Schemas['WebhookSubscription']> {
    return this.requests.send(
      { method: 'POST', path: '/v1/webhook-subscriptions', body, idempotencyKey },
      options,
    );
  }

  /** All subscriptions of the environment, newest first. */
  list(
    query?: Query<'listWebhookSubscriptions'>,
    options?: CallOptions,
  ): List<Schemas['WebhookSubscriptionPage']> {
    return this.requests.list('/v1/webhook-subscriptions', query, options);
  }

  /** Stops deliveries at once. The subscription is kept, and can be reactivated in the dashboard. */
  disable(id: string, options?: CallOptions): Promise<Schemas['WebhookSubscription']> {
    return this.requests.send(
      { method: 'POST', path: `/v1/webhook-subscriptions/${segmentOf(id)}/disable` },
      options,
    );
  }
}

/** An id as a segment of a path. Without it, the path would belong to another operation. */
function segmentOf(id: string): string {
  if (typeof id !== 'string' || id === '') throw new TypeError('id is missing');
  return encodeURIComponent(id);
}
