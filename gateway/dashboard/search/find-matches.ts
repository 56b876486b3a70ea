import { Code } from '@connectrpc/connect';
import { validate as isUuid } from 'uuid';
import type { Sale } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { canSee, type Section } from '../shell/access.ts';
import { codeOf } from '../shell/failures.ts';
import type { View } from '../shell/view.ts';
import { readSubscriptions } from '../webhooks/subscriptions/subscription-reads.ts';
import type { searchTexts } from './search.texts.ts';

const MAX_LISTED = 20;
const MAX_ORDER_NUMBER = 100;

/** The records of an order, a payment or a URL; at most 20 of each kind. */
export interface Matches {
  readonly sales: readonly Sale[];
  readonly refundCases: readonly RefundCase[];
  /** The sales of the refund cases. */
  readonly names: SaleNames;
  readonly endpoints: readonly WebhookSubscription[];
  /** Whether a list was cut off. */
  readonly hasMore: boolean;
}

/**
 * Finds sales by order id or the start of an order number, refund cases by these sales or by order, payment or sale
 * id, and endpoints by a part of their URL.
 */
export async function findMatches(view: View, text: string): Promise<Matches> {
  const [{ sales, hasMore: hasMoreSales }, endpoints] = await Promise.all([
    salesOf(view, text),
    endpointsWith(view, text),
  ]);
  const cases = await refundCasesOf(view, text, sales);
  const refundCases = cases.slice(0, MAX_LISTED);
  return {
    sales,
    refundCases,
    names: await readSaleNames(view, refundCases),
    endpoints: endpoints.slice(0, MAX_LISTED),
    hasMore: hasMoreSales || cases.length > MAX_LISTED || endpoints.length > MAX_LISTED,
  };
}

async function salesOf(view: View, text: string) {
  if (text.length > MAX_ORDER_NUMBER) return { sales: [], hasMore: false };
  if (!isUuid(text)) {
    return view.clients.funds.searchSales({ orderNumberPrefix: text, limit: MAX_LISTED });
  }
  const page = await view.clients.funds.listSales({ orderId: text, pageSize: MAX_LISTED });
  return { sales: page.sales, hasMore: page.nextPageToken !== '' };
}

/** The cases of these sales, and those of the order, payment or sale with this id. */
async function refundCasesOf(
  view: View,
  text: string,
  sales: readonly Sale[],
): Promise<readonly RefundCase[]> {
  const saleIds = sales.map(({ id }) => id);
  const filters = isUuid(text)
    ? [{ orderId: text }, { paymentIntentId: text }, { saleIds: [text, ...saleIds] }]
    : saleIds.length > 0
      ? [{ saleIds }]
      : [];
  const pages = await Promise.all(
    filters.map((filter) =>
      view.clients.refundCases.listRefundCases({ ...filter, pageSize: MAX_LISTED + 1 }),
    ),
  );
  const cases = pages.flatMap((page) => page.refundCases);
  return [...new Map(cases.map((refundCase) => [refundCase.id, refundCase])).values()];
}

/** A merchant has few endpoints: they are compared here. */
async function endpointsWith(view: View, text: string): Promise<readonly WebhookSubscription[]> {
  if (!canSee(view, 'webhooks')) return [];
  const wanted = text.toLowerCase();
  const endpoints = await readSubscriptions(view);
  return endpoints.filter(({ url }) => url.toLowerCase().includes(wanted));
}

/** A kind of record that has an id and a page. */
export type RecordKind = keyof (typeof searchTexts)['en']['kinds'];

/** A record that a search has found by its id. `path`: the path of its page, below the merchant's. */
export interface FoundRecord {
  readonly kind: RecordKind;
  readonly path: string;
}

interface Lookup {
  readonly section: Section;
  /** Reads the record in the viewer's merchant and environment; rejects with NOT_FOUND if there is none. */
  find(view: View, id: string): Promise<unknown>;
  path(id: string): string;
}

const LOOKUPS: Readonly<Record<RecordKind, Lookup>> = {
  refund: {
    section: 'refunds',
    find: ({ clients }, refundCaseId) => clients.refundCases.getRefundCase({ refundCaseId }),
    path: (id) => `/refunds/${id}`,
  },
  dispute: {
    section: 'disputes',
    find: ({ clients }, disputeId) => clients.refundCases.getDispute({ disputeId }),
    path: (id) => `/disputes/${id}`,
  },
  sale: {
    section: 'funds',
    find: ({ clients }, saleId) => clients.funds.getSale({ saleId }),
    path: (id) => `/funds/sales/${id}`,
  },
  advance: {
    section: 'advances',
    find: ({ clients }, advanceRequestId) => clients.advances.getAdvanceRequest({ advanceRequestId }),
    path: (id) => `/advances/${id}`,
  },
  product: {
    section: 'products',
    find: ({ clients }, productId) => clients.products.getProduct({ productId }),
    path: (id) => `/products/${id}`,
  },
  subscription: {
    section: 'webhooks',
    find: ({ clients }, subscriptionId) =>
      clients.webhookSubscriptions.getWebhookSubscription({ subscriptionId }),
    path: (id) => `/webhooks/${id}`,
  },
  delivery: {
    section: 'webhooks',
    find: ({ clients }, deliveryId) => clients.deliveries.getDelivery({ deliveryId }),
    path: (id) => `/deliveries/${id}`,
  },
  resend: {
    section: 'webhooks',
    find: ({ clients }, resendId) => clients.deliveries.getResend({ resendId }),
    path: (id) => `/resends/${id}`,
  },
  event: {
    section: 'webhooks',
    find: ({ clients }, eventId) => clients.events.getEvent({ eventId }),
    path: (id) => `/deliveries?event=${id}`,
  },
};

/**
 * The records with this id in the viewer's merchant and environment, in sections that they may see. Usually at most
 * one.
 */
export async function findRecords(view: View, id: string): Promise<FoundRecord[]> {
  const lookups = (Object.entries(LOOKUPS) as [RecordKind, Lookup][]).filter(([, { section }]) =>
    canSee(view, section),
  );
  const found = await Promise.all(
    lookups.map(async ([kind, { find, path }]) =>
      (await exists(find(view, id))) ? [{ kind, path: path(id) }] : [],
    ),
  );
  return found.flat();
}

async function exists(reading: Promise<unknown>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (codeOf(error) === Code.NotFound) return false;
    throw error;
  }
}
