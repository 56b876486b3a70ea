import { validate as isUuid } from 'uuid';
import type { AuditEntry, Member } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type DashboardClients, MAX_PAGE_SIZE } from '../dashboard-clients.ts';
import { type Disputes, findDisputes } from '../disputes/find-disputes.ts';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import type { View } from '../shell/view.ts';
import { type Endpoints, readEndpoints } from '../webhooks/subscriptions/subscription-reads.ts';

/** The largest page of advance requests. */
const MAX_ADVANCES = 50;

/** The names of the records to which a page of entries refers by id, without those not found. */
export interface AuditFacts {
  readonly refundCases: ReadonlyMap<string, RefundCase>;
  readonly disputes: Disputes;
  readonly saleNames: SaleNames;
  readonly endpoints: Endpoints;
  /** Names of API keys. */
  readonly keys: ReadonlyMap<string, string>;
  /** Names, or else addresses, of members by account id. */
  readonly people: ReadonlyMap<string, string>;
  /** Amounts of the advances that were requested, by quote, in centavos. */
  readonly advances: ReadonlyMap<string, bigint>;
}

/** A field of an entry's request; undefined when it is absent or not a text. */
export function fieldOf({ request }: AuditEntry, name: string): string | undefined {
  const value = request?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An id in an entry's request, in lower case; undefined when it is absent or no UUID. */
export function idOf(entry: AuditEntry, name: string): string | undefined {
  const id = fieldOf(entry, name);
  return isUuid(id) ? id!.toLowerCase() : undefined;
}

/** Reads the records that these entries name: each kind in one call, and only if an entry names one. */
export async function readAuditFacts(
  clients: DashboardClients,
  view: View,
  entries: readonly AuditEntry[],
  members: readonly Member[],
): Promise<AuditFacts> {
  const ids = (name: string) => [...new Set(entries.flatMap((entry) => idOf(entry, name) ?? []))];
  const subscriptionIds = ids('subscriptionId');
  const [refundCases, disputes, endpoints, keys, advances] = await Promise.all([
    refundCasesOf(clients, view, ids('refundCaseId')),
    findDisputes(clients, view, ids('disputeId')),
    subscriptionIds.length > 0 ? readEndpoints(clients, view, subscriptionIds) : new Map(),
    ids('apiKeyId').length > 0 ? keysOf(clients, view) : new Map<string, string>(),
    ids('quoteId').length > 0 ? advancesOf(clients, view) : new Map<string, bigint>(),
  ]);
  return {
    refundCases: byId(refundCases),
    disputes,
    saleNames: await readSaleNames(clients, view, [...refundCases, ...disputes.values()]),
    endpoints,
    keys,
    people: new Map(members.map(({ account }) => [account!.id, account!.name || account!.email])),
    advances,
  };
}

const byId = <T extends { readonly id: string }>(records: readonly T[]) =>
  new Map(records.map((record) => [record.id, record]));

async function refundCasesOf({ refundCases }: DashboardClients, view: View, refundCaseIds: string[]) {
  if (refundCaseIds.length === 0) return [];
  const request = { ...view.tenant, refundCaseIds, pageSize: MAX_PAGE_SIZE };
  return (await refundCases.listRefundCases(request, view.call)).refundCases;
}

async function keysOf({ apiKeys }: DashboardClients, view: View): Promise<ReadonlyMap<string, string>> {
  const page = await apiKeys.listApiKeys({ ...view.tenant, pageSize: MAX_PAGE_SIZE }, view.call);
  return new Map(page.apiKeys.map(({ id, name }) => [id, name]));
}

/** Reads the newest requests only; older ones are described without their amount. */
async function advancesOf({ advances }: DashboardClients, view: View): Promise<ReadonlyMap<string, bigint>> {
  const page = await advances.listAdvanceRequests({ ...view.tenant, pageSize: MAX_ADVANCES }, view.call);
  return new Map(page.advanceRequests.map(({ quoteId, amountMinor }) => [quoteId, amountMinor]));
}
