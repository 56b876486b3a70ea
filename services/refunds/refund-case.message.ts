import {
  ApprovalMode,
  type MerchantDecision,
  MerchantDecisionKind,
  type ProviderRefund,
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
  type RefundWindow,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { CURRENCY } from '../platform/amounts.ts';
import { readRowOf } from '../platform/reads/read-table.ts';
import { environmentEnum } from '../platform/tenant.ts';
import type { RefundCaseRow } from './refund-case.entity.ts';
import type { RefundCaseReadRow } from './refund-case.queries.ts';
import type { ManualBlocker } from './refund-case.ts';

export function refundCaseMessage(row: RefundCaseReadRow): RefundCase {
  return {
    $typeName: 'payments.refunds.v1.RefundCase',
    id: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    amountMinor: row.amount_minor,
    currency: CURRENCY,
    status: RefundCaseStatus[row.status],
    initiator: RefundInitiator[row.initiator],
    approvalMode: row.approval_mode === null ? undefined : ApprovalMode[row.approval_mode],
    blockedBy: row.blocked_by.map((blocker) => RefundBlocker[blocker]),
    evidenceCount: row.evidence_count,
    invoiceId: row.invoice_id ?? undefined,
    orderId: row.order_id ?? undefined,
    paymentIntentId: row.payment_intent_id,
    saleId: row.sale_id ?? undefined,
    paymentPaidAt: row.payment_paid_at ?? undefined,
    merchantReviewDeadlineAt: row.merchant_review_deadline_at ?? undefined,
    merchantDecision: merchantDecision(row),
    provider: provider(row),
    reason: row.reason,
    refundWindow: refundWindow(row),
    requestedAt: row.requested_at,
    updatedAt: row.updated_at,
    executions: row.executions,
    executionStartedAt: row.execution_started_at ?? undefined,
    deadlineNotifiedAt: row.deadline_notified_at ?? undefined,
    refundReference: row.refund_reference ?? undefined,
  };
}

function merchantDecision(row: RefundCaseReadRow): MerchantDecision | undefined {
  if (row.merchant_decision === null) return undefined;
  return {
    $typeName: 'payments.refunds.v1.MerchantDecision',
    decidedAt: row.merchant_decided_at ?? undefined,
    decision: MerchantDecisionKind[row.merchant_decision],
    reason: row.merchant_decision_reason ?? undefined,
  };
}

function provider(row: RefundCaseReadRow): ProviderRefund | undefined {
  if (row.processing_started_at === null) return undefined;
  return {
    $typeName: 'payments.refunds.v1.ProviderRefund',
    refundId: row.provider_refund_id ?? undefined,
    submissionStatus: row.provider_submission_status ?? undefined,
    submittedAt: row.provider_submitted_at ?? undefined,
  };
}

function refundWindow(row: RefundCaseReadRow): RefundWindow | undefined {
  if (row.refund_window_expires_at === null || row.refund_window_days === null) return undefined;
  return {
    $typeName: 'payments.refunds.v1.RefundWindow',
    days: row.refund_window_days,
    expiresAt: row.refund_window_expires_at,
  };
}

/** The message of a refund case inside a transaction. */
export const storedRefundCaseMessage = (row: RefundCaseRow): RefundCase => refundCaseMessage(readRowOf(row));

/** Narrows the blocker of a validated request to those that internal teams can set. */
export function manualBlockerOf(blocker: RefundBlocker): ManualBlocker {
  switch (blocker) {
    case RefundBlocker.KYC_NOT_APPROVED:
      return 'KYC_NOT_APPROVED';
    case RefundBlocker.MERCHANT_NOT_ACTIVE:
      return 'MERCHANT_NOT_ACTIVE';
    case RefundBlocker.PAYMENT_NOT_LIVE:
      return 'PAYMENT_NOT_LIVE';
    default:
      throw new TypeError(`${RefundBlocker[blocker]} cannot be set manually`);
  }
}
