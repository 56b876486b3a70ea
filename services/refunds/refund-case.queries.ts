import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type NotNull, sql } from 'kysely';
import type { CivilDate } from '../platform/civil-date.ts';
import { isAnyOf } from '../platform/reads/ids.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../platform/reads/read-table.ts';
import { startOf } from '../platform/reads/start-of-date.ts';
import type { RecordKey, Tenant } from '../platform/tenant.ts';
import { RefundCaseEntity } from './refund-case.entity.ts';
import type { Initiator, RefundStatus } from './refund-case.ts';

/** A refund case as hot reads return it. */
export type RefundCaseReadRow = ReadTable<typeof RefundCaseEntity>;

const db = queryBuilder<{ 'refunds.refund_case': RefundCaseReadRow }>();

function refundCases(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('refunds.refund_case')
    .select(columnsOf(RefundCaseEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

export const selectRefundCase = prepareRead<RecordKey, RefundCaseReadRow>((parameters) =>
  refundCases(parameters).where('id', '=', parameters('id')).compile(),
);

/** Which of a merchant's cases to list; undefined filters are ignored. */
export interface RefundCaseFilter {
  /** Dates of the request, inclusive. */
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
  readonly initiator: Initiator | undefined;
  readonly orderId: string | undefined;
  readonly paymentIntentId: string | undefined;
  readonly status: RefundStatus | undefined;
  readonly saleIds: readonly string[] | undefined;
  readonly refundCaseIds: readonly string[] | undefined;
  readonly providerRefundId: string | undefined;
  readonly refundReference: string | undefined;
  /** Only approved cases that something blocks. */
  readonly blockedOnly: true | undefined;
}

/** The condition on an approved case that something blocks. */
const APPROVED_BUT_BLOCKED = sql<boolean>`status in ('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')
  and blocked_by <> '{}'`;

type RefundCasePage = Tenant & RefundCaseFilter & PageRange;

/** Refund cases are listed newest first. */
export const refundCaseOrder: ListOrder<RefundCaseReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'desc',
};

/** A refund case that awaits the merchant's decision. */
type UndecidedReadRow = RefundCaseReadRow & { merchant_review_deadline_at: Timestamp };

/** Refund cases that await the merchant are listed soonest deadline first. */
export const reviewDeadlineOrder: ListOrder<UndecidedReadRow> = {
  columns: ['merchant_review_deadline_at', 'id'],
  direction: 'asc',
};

export const selectRefundCases = prepareRead<RefundCasePage, RefundCaseReadRow>((parameters) =>
  inOrder(matchingCases(parameters), refundCaseOrder, parameters).compile(),
);

/** One page of the refund cases that await the merchant, in the order of their deadlines. */
export const selectUndecidedCases = prepareRead<RefundCasePage, UndecidedReadRow>((parameters) => {
  // A literal, not a parameter: only then does the planner use the partial index on undecided cases.
  const undecided = matchingCases(parameters)
    .where('status', '=', sql.lit('MERCHANT_REVIEW'))
    .$narrowType<{ merchant_review_deadline_at: NotNull }>();
  return inOrder(undecided, reviewDeadlineOrder, parameters).compile();
});

/** The cases that match in one state. */
export interface RefundCaseTotalRow {
  status: RefundStatus;
  count: number;
  /** In centavos, as text: it may exceed 64 bits. */
  amount_minor: string;
}

/** The sums of the cases that match, by status. */
export const selectRefundCaseTotals = prepareRead<Tenant & RefundCaseFilter, RefundCaseTotalRow>(
  (parameters) =>
    db
      .selectFrom(matchingCases(parameters).as('matching'))
      .select(['status', sql<number>`count(*)::int`.as('count')])
      .select(sql<string>`sum(amount_minor)::text`.as('amount_minor'))
      .groupBy('status')
      .compile(),
);

function matchingCases(parameters: ReadParameters<Tenant & RefundCaseFilter>) {
  let query = refundCases(parameters);
  if (parameters.has('from')) query = query.where('requested_at', '>=', startOf(parameters('from'), 0));
  if (parameters.has('to')) query = query.where('requested_at', '<', startOf(parameters('to'), 1));
  if (parameters.has('initiator')) query = query.where('initiator', '=', parameters('initiator'));
  if (parameters.has('orderId')) query = query.where('order_id', '=', parameters('orderId'));
  if (parameters.has('paymentIntentId')) {
    query = query.where('payment_intent_id', '=', parameters('paymentIntentId'));
  }
  if (parameters.has('status')) query = query.where('status', '=', parameters('status'));
  if (parameters.has('saleIds')) query = query.where(isAnyOf('sale_id', parameters('saleIds')));
  if (parameters.has('providerRefundId')) {
    query = query.where('provider_refund_id', '=', parameters('providerRefundId'));
  }
  if (parameters.has('refundReference')) {
    query = query.where('refund_reference', '=', parameters('refundReference'));
  }
  // Literals, so that the planner can use the partial index on open cases.
  if (parameters.has('blockedOnly')) query = query.where(APPROVED_BUT_BLOCKED);
  if (parameters.has('refundCaseIds')) query = query.where(isAnyOf('id', parameters('refundCaseIds')));
  return query;
}
