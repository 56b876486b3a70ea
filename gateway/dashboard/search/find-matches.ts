import { Code } from '@connectrpc/connect';
import { validate as isUuid } from 'uuid';
import type { AdvanceRequest } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Sale } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Dispute, RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { WebhookSubscription } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import type { MerchantClients } from '../merchant-clients.ts';
import { canSee, type Section } from '../shell/access.ts';
import { codeOf } from '../shell/failures.ts';
import type { View } from '../shell/view.ts';
import { readSubscriptions } from '../webhooks/subscriptions/subscription-reads.ts';
import type { searchTexts } from './search.texts.ts';

const MAX_LISTED = 20;
const MAX_ORDER_NUMBER = 100;
/** Of a refund's or customer's reference, and of a provider's id of a refund or payout. */
const MAX_REFERENCE = 255;

/** The records of an order, a customer, a payment, a payout or a URL; at most 20 of each kind. */
export interface Matches {
  readonly sales: readonly Sale[];
  readonly refundCases: readonly RefundCase[];
  readonly disputes: readonly Dispute[];
  readonly advances: readonly AdvanceRequest[];
  /** The sales of the refund cases and disputes. */
  readonly names: SaleNames;
  readonly endpoints: readonly WebhookSubscription[];
  /** Whether the customer with this reference has more sales than those found. */
  readonly hasMoreOfCustomer: boolean;
  /** Whether another list was cut off. */
  readonly hasMore: boolean;
}

/**
 * Finds sales by order id, the start of an order number or the customer's reference; refund cases and disputes by these
 * sales or by order, payment or sale id, refund cases also by their reference or their id at the provider; advances by their
 * payout's id at the provider; and endpoints by a part of their URL.
 */
export async function findMatches(view: View, text: string): Promise<Matches> {
  const [ordered, ofCustomer, advances, endpoints] = await Promise.all([
    salesOfOrder(view, text),
    salesOfCustomer(view, text),
    advancesPaidAs(view, text),
    endpointsWith(view, text),
  ]);
  const sales = distinct([...ordered.sales, ...ofCustomer.sales]);
  const shown = sales.slice(0, MAX_LISTED);
  const [allCases, allDisputes] = await Promise.all([
    refundCasesOf(view, text, shown),
    disputesOf(view, text, shown),
  ]);
  const refundCases = allCases.slice(0, MAX_LISTED);
  const disputes = allDisputes.slice(0, MAX_LISTED);
  const lists = [sales, allCases, allDisputes, advances, endpoints];
  return {
    sales: shown,
    refundCases,
    disputes,
    advances: advances.slice(0, MAX_LISTED),
    names: await readSaleNames(view, [...refundCases, ...disputes]),
    endpoints: endpoints.slice(0, MAX_LISTED),
    hasMoreOfCustomer: ofCustomer.hasMore,
    hasMore: ordered.hasMore || lists.some(({ length }) => length > MAX_LISTED),
  };
}

async function salesOfOrder(view: View, text: string) {
  if (text.length > MAX_ORDER_NUMBER) return { sales: [], hasMore: false };
  if (!isUuid(text)) {
    return view.clients.funds.searchSales({ orderNumberPrefix: text, limit: MAX_LISTED });
  }
  const page = await view.clients.funds.listSales({ orderId: text, pageSize: MAX_LISTED });
  return { sales: page.sales, hasMore: page.nextPageToken !== '' };
}

async function salesOfCustomer(view: View, text: string) {
  if (text.length > MAX_REFERENCE) return { sales: [], hasMore: false };
  const page = await view.clients.funds.listSales({ customerReference: text, pageSize: MAX_LISTED });
  return { sales: page.sales, hasMore: page.nextPageToken !== '' };
}

/** The advances with this payout id at the provider: one, unless the provider uses an id twice. */
async function advancesPaidAs(view: View, text: string): Promise<readonly AdvanceRequest[]> {
  if (text.length > MAX_REFERENCE || !canSee(view, 'advances')) return [];
  const request = { providerPayoutId: text, pageSize: MAX_LISTED + 1 };
  return (await view.clients.advances.listAdvanceRequests(request)).advanceRequests;
}

/**
 * The cases of these sales, those of the order, payment or sale with this id, and those with this reference or this id at the
 * provider.
 */
async function refundCasesOf(
  view: View,
  text: string,
  sales: readonly Sale[],
): Promise<readonly RefundCase[]> {
  const filters = [
    ...filtersOf(text, sales),
    ...(isUuid(text) ? [{ orderId: text }] : []),
    ...(text.length <= MAX_REFERENCE ? [{ providerRefundId: text }, { refundReference: text }] : []),
  ];
  const pages = await Promise.all(
    filters.map((filter) =>
      view.clients.refundCases.listRefundCases({ ...filter, pageSize: MAX_LISTED + 1 }),
    ),
  );
  return distinct(pages.flatMap((page) => page.refundCases));
}

/** The disputes of these sales, and those of the payment or sale with this id. */
async function disputesOf(view: View, text: string, sales: readonly Sale[]): Promise<readonly Dispute[]> {
  const pages = await Promise.all(
    filtersOf(text, sales).map((filter) =>
      view.clients.refundCases.listDisputes({ ...filter, pageSize: MAX_LISTED + 1 }),
    ),
  );
  return distinct(pages.flatMap((page) => page.disputes));
}

function filtersOf(text: string, sales: readonly Sale[]) {
  const saleIds = [...(isUuid(text) ? [text] : []), ...sales.map(({ id }) => id)];
  return [...(isUuid(text) ? [{ paymentIntentId: text }] : []), ...(saleIds.length > 0 ? [{ saleIds }] : [])];
}

function distinct<T extends { readonly id: string }>(records: readonly T[]): T[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

/** A merchant has few endpoints: they are compared here. */
async function endpointsWith(view: View, text: string): Promise<readonly WebhookSubscription[]> {
  if (!canSee(view, 'webhooks')) return [];
  const wanted = text.toLowerCase();
  const endpoints = await readSubscriptions(view, { withHealth: false });
  return endpoints.filter(({ url }) => url.toLowerCase().includes(wanted));
}

/** A kind of record that has an id and a page. */
export type RecordKind = keyof (typeof searchTexts)['en']['kinds'];

/** A record that a search has found by its id. `path`: the path of its page, below the merchant's. */
export interface FoundRecord {
  readonly kind: RecordKind;
  readonly path: string;
}

type Lookup = readonly [
  section: Section,
  /** The path of its page, before its id. */
  path: string,
  /** Reads the record of the page's merchant and environment; undefined, or rejects with NOT_FOUND, if there is none. */
  find: (clients: MerchantClients, id: string) => Promise<unknown>,
];

const LOOKUPS: Readonly<Record<RecordKind, Lookup>> = {
  refund: ['refunds', '/refunds/', (all, refundCaseId) => all.refundCases.getRefundCase({ refundCaseId })],
  dispute: ['disputes', '/disputes/', (all, disputeId) => all.refundCases.getDispute({ disputeId })],
  sale: ['funds', '/funds/sales/', (all, saleId) => all.funds.getSale({ saleId })],
  advance: ['advances', '/advances/', (all, id) => all.advances.getAdvanceRequest({ advanceRequestId: id })],
  product: ['products', '/products/', (all, productId) => all.products.getProduct({ productId })],
  subscription: [
    'webhooks',
    '/webhooks/',
    (all, subscriptionId) => all.webhookSubscriptions.getWebhookSubscription({ subscriptionId }),
  ],
  delivery: ['webhooks', '/deliveries/', (all, deliveryId) => all.deliveries.getDelivery({ deliveryId })],
  resend: ['webhooks', '/resends/', (all, resendId) => all.deliveries.getResend({ resendId })],
  event: ['webhooks', '/deliveries?event=', (all, eventId) => all.events.getEvent({ eventId })],
  request: [
    'webhooks',
    '/deliveries?request=',
    async (all, requestId) => (await all.events.listEvents({ requestId, pageSize: 1 })).events[0],
  ],
};

/**
 * The records with this id in the viewer's merchant and environment, in sections that they may see. Usually at most
 * one.
 */
export async function findRecords(view: View, id: string): Promise<FoundRecord[]> {
  const lookups = (Object.entries(LOOKUPS) as [RecordKind, Lookup][]).filter(([, [section]]) =>
    canSee(view, section),
  );
  const found = await Promise.all(
    lookups.map(async ([kind, [, path, find]]) =>
      (await exists(find(view.clients, id))) ? [{ kind, path: `${path}${id}` }] : [],
    ),
  );
  return found.flat();
}

async function exists(reading: Promise<unknown>): Promise<boolean> {
  try {
    return (await reading) !== undefined;
  } catch (error) {
    if (codeOf(error) === Code.NotFound) return false;
    throw error;
  }
}
