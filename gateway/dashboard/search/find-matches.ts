import { Code, ConnectError } from '@connectrpc/connect';
import { validate as isUuid } from 'uuid';
import type { Sale } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { DashboardClients } from '../dashboard-clients.ts';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import { type Section, sees } from '../shell/access.ts';
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
export async function findMatches(clients: DashboardClients, view: View, text: string): Promise<Matches> {
  const [{ sales, hasMore: hasMoreSales }, endpoints] = await Promise.all([
    salesOf(clients, view, text),
    endpointsWith(clients, view, text),
  ]);
  const cases = await refundCasesOf(clients, view, text, sales);
  const refundCases = cases.slice(0, MAX_LISTED);
  return {
    sales,
    refundCases,
    names: await readSaleNames(clients, view, refundCases),
    endpoints: endpoints.slice(0, MAX_LISTED),
    hasMore: hasMoreSales || cases.length > MAX_LISTED || endpoints.length > MAX_LISTED,
  };
}

async function salesOf({ funds }: DashboardClients, view: View, text: string) {
  if (text.length > MAX_ORDER_NUMBER) return { sales: [], hasMore: false };
  if (!isUuid(text)) {
    return funds.searchSales({ ...view.tenant, orderNumberPrefix: text, limit: MAX_LISTED }, view.call);
  }
  const page = await funds.listSales({ ...view.tenant, orderId: text, pageSize: MAX_LISTED }, view.call);
  return { sales: page.sales, hasMore: page.nextPageToken !== '' };
}

/** The cases of these sales, and those of the order, payment or sale with this id. */
async function refundCasesOf(
  { refundCases }: DashboardClients,
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
      refundCases.listRefundCases({ ...view.tenant, ...filter, pageSize: MAX_LISTED + 1 }, view.call),
    ),
  );
  const cases = pages.flatMap((page) => page.refundCases);
  return [...new Map(cases.map((refundCase) => [refundCase.id, refundCase])).values()];
}

/** A merchant has few endpoints: they are compared here. */
async function endpointsWith(
  clients: DashboardClients,
  view: View,
  text: string,
): Promise<readonly WebhookSubscription[]> {
  if (!sees(view, 'webhooks')) return [];
  const wanted = text.toLowerCase();
  const endpoints = await readSubscriptions(clients, view);
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
  find(clients: DashboardClients, view: View, id: string): Promise<unknown>;
  path(id: string): string;
}

const LOOKUPS: Readonly<Record<RecordKind, Lookup>> = {
  refund: {
    section: 'refunds',
    find: ({ refundCases }, { tenant, call }, refundCaseId) =>
      refundCases.getRefundCase({ ...tenant, refundCaseId }, call),
    path: (id) => `/refunds/${id}`,
  },
  dispute: {
    section: 'disputes',
    find: ({ refundCases }, { tenant, call }, disputeId) =>
      refundCases.getDispute({ ...tenant, disputeId }, call),
    path: (id) => `/disputes/${id}`,
  },
  sale: {
    section: 'funds',
    find: ({ funds }, { tenant, call }, saleId) => funds.getSale({ ...tenant, saleId }, call),
    path: (id) => `/funds/sales/${id}`,
  },
  advance: {
    section: 'advances',
    find: ({ advances }, { tenant, call }, advanceRequestId) =>
      advances.getAdvanceRequest({ ...tenant, advanceRequestId }, call),
    path: (id) => `/advances/${id}`,
  },
  product: {
    section: 'products',
    find: ({ products }, { tenant, call }, productId) => products.getProduct({ ...tenant, productId }, call),
    path: (id) => `/products/${id}`,
  },
  subscription: {
    section: 'webhooks',
    find: ({ webhookSubscriptions }, { tenant, call }, subscriptionId) =>
      webhookSubscriptions.getWebhookSubscription({ ...tenant, subscriptionId }, call),
    path: (id) => `/webhooks/${id}`,
  },
  delivery: {
    section: 'webhooks',
    find: ({ deliveries }, { tenant, call }, deliveryId) =>
      deliveries.getDelivery({ ...tenant, deliveryId }, call),
    path: (id) => `/deliveries/${id}`,
  },
  resend: {
    section: 'webhooks',
    find: ({ deliveries }, { tenant, call }, resendId) => deliveries.getResend({ ...tenant, resendId }, call),
    path: (id) => `/resends/${id}`,
  },
  event: {
    section: 'webhooks',
    find: ({ events }, { tenant, call }, eventId) => events.getEvent({ ...tenant, eventId }, call),
    path: (id) => `/deliveries?event=${id}`,
  },
};

/**
 * The records with this id in the viewer's merchant and environment, in sections that they may see. Usually at most
 * one.
 */
export async function findRecords(clients: DashboardClients, view: View, id: string): Promise<FoundRecord[]> {
  const lookups = (Object.entries(LOOKUPS) as [RecordKind, Lookup][]).filter(([, { section }]) =>
    sees(view, section),
  );
  const found = await Promise.all(
    lookups.map(async ([kind, { find, path }]) =>
      (await exists(find(clients, view, id))) ? [{ kind, path: path(id) }] : [],
    ),
  );
  return found.flat();
}

async function exists(reading: Promise<unknown>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return false;
    throw error;
  }
}
