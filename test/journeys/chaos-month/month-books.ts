import { DatabaseSync } from 'node:sqlite';
import { createClient, type Transport } from '@connectrpc/connect';
import { expect } from 'vitest';
import { refundOutcomeOf } from '../../../local/demo/connector/demo-outcomes.ts';
import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { BlockReason, type FundsRelease } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { type RefundCase, RefundCaseStatus } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { type Event, EventService } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { allItems } from '../../../services/platform/rpc/pages-of.ts';
import { eventsOfStatus } from '../../../services/refunds/refund-case.ts';
import { clientsOf } from '../command-builder.ts';
import type { MonthMerchant } from './month-merchant.ts';

/** The statuses of cases that are not closed. */
export const OPEN: ReadonlySet<RefundCaseStatus> = new Set([
  RefundCaseStatus.MERCHANT_REVIEW,
  RefundCaseStatus.SERVICE_REVIEW,
  RefundCaseStatus.APPROVED_FOR_EXECUTION,
  RefundCaseStatus.FUNDING_REQUIRED,
  RefundCaseStatus.PROCESSING,
]);

/** Everything that the services report about a merchant. */
export interface MerchantBooks {
  readonly cases: readonly RefundCase[];
  readonly rows: readonly FundsRelease[];
  readonly advances: readonly AdvanceRequest[];
  /** The cases and disputes that hold funds. */
  readonly holders: ReadonlySet<string>;
  readonly openDebtsMinor: bigint;
  /** By object, in the order of their sequence numbers. */
  readonly events: ReadonlyMap<string, readonly Event[]>;
}

/** Reads all lists of a merchant completely. */
export async function readBooks(transport: Transport, { tenant }: MonthMerchant): Promise<MerchantBooks> {
  const { refunds, funds, advances } = clientsOf(transport);
  const events = createClient(EventService, transport);
  const listHolders = async (reason: BlockReason) => {
    const { blocks, next } = await funds.scanOpenBlocks({ ...tenant, reason });
    expect(next, 'another page of blocks').toBeUndefined();
    return blocks.map(({ sourceId }) => sourceId);
  };
  const [cases, rows, requests, published, balance, ofCases, ofDisputes] = await Promise.all([
    allItems(
      (page) => refunds.listRefundCases({ ...tenant, ...page }),
      ({ refundCases }) => refundCases,
    ),
    allItems(
      (page) => funds.listFundsReleases({ ...tenant, ...page }),
      ({ releases }) => releases,
    ),
    advances.listAdvanceRequests({ ...tenant, pageSize: 50 }),
    allItems(
      (page) => events.listEvents({ ...tenant, ...page }),
      (answer) => answer.events,
    ),
    funds.getBalance(tenant),
    listHolders(BlockReason.REFUND_IN_PROGRESS),
    listHolders(BlockReason.HOLD_OR_DISPUTE),
  ]);
  const inOrder = published.toSorted((one, other) => Number(one.sequence - other.sequence));
  return {
    cases,
    rows,
    advances: requests.advanceRequests,
    holders: new Set([...ofCases, ...ofDisputes]),
    openDebtsMinor: balance.openDebtsAmountMinor,
    events: Map.groupBy(inOrder, ({ objectId }) => objectId),
  };
}

const sumOf = <T>(items: readonly T[], amountOf: (item: T) => bigint) =>
  items.reduce((sum, item) => sum + amountOf(item), 0n);

/** Every confirmed call took effect once, and the money of the sales is where refunds, disputes and advances put it. */
export function expectMoneyConserved({ confirmed }: MonthMerchant, books: MerchantBooks): void {
  const { cases, rows, advances, openDebtsMinor } = books;
  expect(cases.map(({ id }) => id).sort()).toEqual(confirmed.refundCaseIds.toSorted());
  expect(sumOf(rows, (row) => row.grossAllocatedAmountMinor)).toBe(
    sumOf(confirmed.sales, ({ grossMinor }) => grossMinor),
  );
  expect(sumOf(rows, (row) => row.feesAllocatedAmountMinor)).toBe(
    sumOf(confirmed.sales, ({ feesMinor }) => feesMinor),
  );
  const isPaidOut = ({ status }: AdvanceRequest) =>
    status === AdvanceRequestStatus.RELEASED || status === AdvanceRequestStatus.SETTLED;
  expect(sumOf(rows, (row) => row.advancedAmountMinor)).toBe(
    sumOf(advances.filter(isPaidOut), ({ amountMinor }) => amountMinor),
  );
  const { PROCESSING, SUCCEEDED } = RefundCaseStatus;
  const refunded = cases.filter(({ status }) => status === PROCESSING || status === SUCCEEDED);
  const refundedMinor = sumOf(refunded, ({ amountMinor }) => amountMinor);
  const lostMinor = sumOf(rows, (row) => row.deductionsAmountMinor) - refundedMinor;
  expect(lostMinor).toBeGreaterThanOrEqual(0n);
  // What nothing covers of a lost dispute is owed.
  expect(lostMinor + openDebtsMinor).toBeLessThanOrEqual(
    sumOf(confirmed.lostSales, ({ grossMinor }) => grossMinor),
  );
}

/** Each open case and dispute of a sale holds its funds, and no other. */
export function expectOpenCasesToHoldFunds(
  { confirmed }: MonthMerchant,
  { cases, holders }: MerchantBooks,
): void {
  const open = cases.filter(({ status, saleId }) => OPEN.has(status) && saleId !== undefined);
  expect([...holders].sort()).toEqual([...open.map(({ id }) => id), ...confirmed.openDisputeIds].sort());
}

/** The events of each object are numbered from 1 without a gap, and those of a case end with its status. */
export function expectEventsComplete({ cases, events }: MerchantBooks): void {
  for (const [objectId, ofObject] of events) {
    const numbers = ofObject.map(({ sequence }) => Number(sequence));
    expect(numbers, `events of ${objectId}`).toEqual(numbers.map((_, index) => index + 1));
  }
  const notices: readonly string[] = ['refund.merchant_decided.v1', 'refund.deadline_approaching.v1'];
  for (const { id, status } of cases) {
    const types = (events.get(id) ?? []).map(({ type }) => type);
    expect(types[0], `first event of ${id}`).toBe('refund.requested.v1');
    const last = eventsOfStatus(enumName(RefundCaseStatus, status)).at(-1) ?? 'refund.requested.v1';
    expect(types.filter((type) => !notices.includes(type)).at(-1), `last event of ${id}`).toBe(last);
  }
}

/** The executions of refunds that were submitted to the provider, by case, and how many of them it has accepted. */
export function readSubmissions(providerFile: string) {
  const database = new DatabaseSync(providerFile, { readOnly: true });
  const rows = database.prepare(`select key, accepted_at from submission where key like 'refund/%'`).all();
  const reports = database.prepare('select count(*) as count from report').get();
  database.close();
  const submissions = new Map<string, { asked: number; accepted: number }>();
  for (const { key, accepted_at } of rows) {
    const [, id = ''] = String(key).split('/');
    const before = submissions.get(id) ?? { asked: 0, accepted: 0 };
    const accepted = before.accepted + (accepted_at === null ? 0 : 1);
    submissions.set(id, { asked: before.asked + 1, accepted });
  }
  return { submissions, openReports: Number(reports?.count) };
}

/** A debited refund was submitted for one execution, and ended as the provider ends refunds of its amount. */
export function expectRefundsEnded(
  { cases }: MerchantBooks,
  submissions: ReturnType<typeof readSubmissions>['submissions'],
): void {
  for (const { id, status, amountMinor, provider } of cases) {
    const submitted = submissions.get(id);
    if (!provider) {
      expect(submitted, `submission of ${id}`).toBeUndefined();
      continue;
    }
    const outcome = refundOutcomeOf(amountMinor);
    const accepted = outcome === 'REFUSED' ? 0 : 1;
    expect(submitted, `submissions of ${id}, which ${outcome}`).toEqual({ asked: 1, accepted });
    expect(RefundCaseStatus[status], `status of ${id}, which ${outcome}`).toBe(FINAL_STATUS[outcome]);
  }
}

const FINAL_STATUS = {
  SUCCEEDS: 'SUCCEEDED',
  TIMES_OUT: 'SUCCEEDED',
  FAILS: 'FAILED',
  FAILS_LATE: 'FAILED',
  REFUSED: 'FAILED',
  STAYS_SILENT: 'PROCESSING',
} as const;
