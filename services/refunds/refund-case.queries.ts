import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type { RefundCaseEntity } from './refund-case.entity.ts';
import type { ApprovalMode, Blocker, Initiator, MerchantDecision, RefundStatus } from './refund-case.ts';

interface RefundTables {
  'refunds.refund_case': InferKyselyTable<typeof RefundCaseEntity>;
}

/** A refund case as hot reads answer it. */
export interface RefundCaseReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  payment_intent_id: string;
  amount_minor: bigint;
  status: RefundStatus;
  initiator: Initiator;
  approval_mode: ApprovalMode | null;
  blocked_by: readonly Blocker[];
  evidence_count: number;
  reason: string;
  sale_id: string | null;
  order_id: string | null;
  invoice_id: string | null;
  payment_paid_at: Timestamp | null;
  refund_window_days: number | null;
  refund_window_expires_at: Timestamp | null;
  merchant_review_deadline_at: Timestamp | null;
  merchant_decision: MerchantDecision | null;
  merchant_decided_at: Timestamp | null;
  merchant_decision_reason: string | null;
  executions: number;
  execution_started_at: Timestamp | null;
  processing_started_at: Timestamp | null;
  provider_refund_id: string | null;
  provider_submission_status: string | null;
  provider_submitted_at: Timestamp | null;
  requested_at: Timestamp;
  updated_at: Timestamp;
}

const db = queryBuilder<RefundTables>();

function refundCases(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('refunds.refund_case')
    .selectAll()
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

interface RefundCaseKey extends Tenant {
  readonly id: string;
}

/** One refund case by its id. */
export const selectRefundCase = prepareRead<RefundCaseKey, RefundCaseReadRow>((parameters) =>
  refundCases(parameters).where('id', '=', parameters('id')).$castTo<RefundCaseReadRow>().compile(),
);

/** Which page of a merchant's cases; what is undefined does not narrow it. */
export interface RefundCasePage extends Tenant, PageRange {
  readonly initiator: Initiator | undefined;
  readonly orderId: string | undefined;
  readonly paymentIntentId: string | undefined;
  readonly status: RefundStatus | undefined;
}

/** Refund cases are listed newest first. */
export const refundCaseOrder: ListOrder<RefundCaseReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'desc',
};

/** A refund case that waits for the merchant. */
export interface UndecidedReadRow extends RefundCaseReadRow {
  merchant_review_deadline_at: Timestamp;
}

/** Refund cases that wait for the merchant are listed soonest deadline first. */
export const reviewDeadlineOrder: ListOrder<UndecidedReadRow> = {
  columns: ['merchant_review_deadline_at', 'id'],
  direction: 'asc',
};

/** A page of refund cases in their order. */
export const selectRefundCases = prepareRead<RefundCasePage, RefundCaseReadRow>((parameters) =>
  inOrder(fittingCases(parameters), refundCaseOrder, parameters).$castTo<RefundCaseReadRow>().compile(),
);

/** A page of the refund cases that wait for the merchant, in the order of their deadlines. */
export const selectUndecidedCases = prepareRead<RefundCasePage, UndecidedReadRow>((parameters) => {
  // Written out, not given as a value: the index that holds no other cases is used.
  const undecided = fittingCases(parameters).where('status', '=', sql.lit('MERCHANT_REVIEW'));
  return inOrder(undecided, reviewDeadlineOrder, parameters).$castTo<UndecidedReadRow>().compile();
});

function fittingCases(parameters: ReadParameters<RefundCasePage>) {
  let query = refundCases(parameters);
  if (parameters.has('initiator')) query = query.where('initiator', '=', parameters('initiator'));
  if (parameters.has('orderId')) query = query.where('order_id', '=', parameters('orderId'));
  if (parameters.has('paymentIntentId')) {
    query = query.where('payment_intent_id', '=', parameters('paymentIntentId'));
  }
  if (parameters.has('status')) query = query.where('status', '=', parameters('status'));
  return query;
}
