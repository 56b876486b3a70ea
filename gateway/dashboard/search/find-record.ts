import { Code, ConnectError } from '@connectrpc/connect';
import type { DashboardClients } from '../dashboard-clients.ts';
import type { Section } from '../shell/access.ts';
import { sees } from '../shell/access.ts';
import type { View } from '../shell/view.ts';
import type { searchTexts } from './search.texts.ts';

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
