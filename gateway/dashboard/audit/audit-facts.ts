import { timestampDate } from '@bufbuild/protobuf/wkt';
import { validate as isUuid } from 'uuid';
import type { AuditEntry, Member } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { RefundCase } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type CivilDate, civilDateAt } from '../../../services/platform/civil-date.ts';
import { pagesOf } from '../../../services/platform/rpc/pages-of.ts';
import { type Disputes, findDisputes } from '../disputes/find-disputes.ts';
import { readSaleNames, type SaleNames } from '../funds/sale-names.ts';
import type { View } from '../shell/view.ts';
import { type Endpoints, readEndpoints } from '../webhooks/subscriptions/subscription-reads.ts';

/** The largest page of advance requests. */
const MAX_ADVANCES = 50;
/** Bounds the reads of a page that is rendered again and again; actions on older keys are described without a name. */
const MAX_KEYS = 1_000;

/** The names of the records to which a page of entries refers by id, without those not found. */
export interface AuditFacts {
  readonly refundCases: ReadonlyMap<string, RefundCase>;
  readonly disputes: Disputes;
  readonly saleNames: SaleNames;
  readonly endpoints: Endpoints;
  /** Names of API keys. */
  readonly keys: ReadonlyMap<string, string>;
  /** Names, or else addresses, of members and former members by account id. */
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

/** Reads the records that these entries name: only the kinds that an entry names. */
export async function readAuditFacts(
  view: View,
  entries: readonly AuditEntry[],
  members: readonly Member[],
): Promise<AuditFacts> {
  const ids = (name: string) => [...new Set(entries.flatMap((entry) => idOf(entry, name) ?? []))];
  const records = Promise.all([
    refundCasesOf(view, ids('refundCaseId')),
    findDisputes(view, ids('disputeId')),
  ]);
  const naming = records.then(([refundCases, disputes]) =>
    readSaleNames(view, [...refundCases, ...disputes.values()]),
  );
  const [[refundCases, disputes], saleNames, endpoints, keys, advances, people] = await Promise.all([
    records,
    naming,
    readEndpoints(view, ids('subscriptionId')),
    keysOf(view, ids('apiKeyId')),
    advancesOf(view, entries),
    peopleOf(view, ids('accountId'), members),
  ]);
  const cases = new Map(refundCases.map((each) => [each.id, each]));
  return { refundCases: cases, disputes, saleNames, endpoints, keys, people, advances };
}

async function refundCasesOf(view: View, refundCaseIds: string[]) {
  if (refundCaseIds.length === 0) return [];
  const request = { refundCaseIds, pageSize: refundCaseIds.length };
  return (await view.clients.refundCases.listRefundCases(request)).refundCases;
}

/** Reads only as many keys, newest first, as it takes to find these. */
async function keysOf(view: View, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (ids.length === 0) return names;
  for await (const { apiKeys } of pagesOf((page) => view.clients.apiKeys.listApiKeys(page))) {
    for (const { id, name } of apiKeys) names.set(id, name);
    if (names.size >= MAX_KEYS || ids.every((id) => names.has(id))) break;
  }
  return names;
}

/** Reads the requests of the days on which the entries requested an advance, of each only as many as it takes. */
async function advancesOf(view: View, entries: readonly AuditEntry[]): Promise<ReadonlyMap<string, bigint>> {
  const requesting = entries.filter((entry) => idOf(entry, 'quoteId') !== undefined);
  const dayOf = ({ occurredAt }: AuditEntry) => civilDateAt(timestampDate(occurredAt!));
  const amounts = new Map<string, bigint>();
  const readDay = async ([day, ofDay]: readonly [CivilDate, readonly AuditEntry[]]) => {
    const quoteIds = ofDay.flatMap((entry) => idOf(entry, 'quoteId') ?? []);
    const list = view.clients.advances.listAdvanceRequests;
    const range = { pageSize: MAX_ADVANCES, fromDate: day, toDate: day };
    for await (const { advanceRequests } of pagesOf((page) => list({ ...page, ...range }))) {
      for (const { quoteId, amountMinor } of advanceRequests) amounts.set(quoteId, amountMinor);
      if (quoteIds.every((id) => amounts.has(id))) break;
    }
  };
  await Promise.all([...Map.groupBy(requesting, dayOf)].map(readDay));
  return amounts;
}

/** Former members have entries of their own, at the latest since they accepted their invitation. */
async function peopleOf(
  view: View,
  accountIds: readonly string[],
  members: readonly Member[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map(members.map(({ account }) => [account!.id, account!.name || account!.email]));
  const others = accountIds.filter((id) => !names.has(id));
  const found = await Promise.all(
    others.map(async (accountId) => {
      const { entries } = await view.clients.accounts.listAuditEntries({ accountId, pageSize: 1 });
      return [accountId, entries[0]?.accountName || entries[0]?.accountEmail] as const;
    }),
  );
  for (const [id, name] of found) if (name) names.set(id, name);
  return names;
}
