import type { JsonObject } from '@bufbuild/protobuf';
import type { DisputeRow, RefundCaseRow } from './refund-case.entity.ts';

/** The `data` of refund events: the refund case as the public API shows it. */
export function refundEventData(row: RefundCaseRow): JsonObject {
  return {
    id: row.id,
    amount: Number(row.amountMinor),
    currency: 'BRL',
    status: row.status,
    initiator: row.initiator,
    approvalMode: row.approvalMode,
    blockedBy: [...row.blockedBy],
    evidenceCount: row.evidenceCount,
    invoiceId: row.invoiceId,
    orderId: row.orderId,
    paymentIntentId: row.paymentIntentId,
    paymentPaidAt: iso(row.paymentPaidAt),
    merchantReviewDeadlineAt: iso(row.merchantReviewDeadlineAt),
    merchantDecision: row.merchantDecision && {
      decidedAt: iso(row.merchantDecidedAt),
      decision: row.merchantDecision,
      reason: row.merchantDecisionReason,
    },
    provider: row.processingStartedAt && {
      refundId: row.providerRefundId,
      submissionStatus: row.providerSubmissionStatus,
      submittedAt: iso(row.providerSubmittedAt),
    },
    reason: row.reason,
    refundWindow: row.refundWindowExpiresAt && {
      days: row.refundWindowDays,
      expiresAt: iso(row.refundWindowExpiresAt),
    },
    requestedAt: row.requestedAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** The `data` of dispute events, without absent values. */
export function disputeEventData(row: DisputeRow): JsonObject {
  return {
    id: row.id,
    paymentIntentId: row.paymentIntentId,
    ...(row.saleId !== null && { saleId: row.saleId }),
    ...(row.amountMinor !== null && { amount: Number(row.amountMinor) }),
    currency: 'BRL',
    reason: row.reason,
    openedAt: row.openedAt.toISOString(),
    ...(row.dueAt && { dueAt: row.dueAt.toISOString() }),
    ...(row.respondedAt && { respondedAt: row.respondedAt.toISOString() }),
    ...(row.closedAt && { closedAt: row.closedAt.toISOString() }),
    ...(row.outcome && { outcome: row.outcome }),
    ...(row.reversedAt && { reversedAt: row.reversedAt.toISOString() }),
  };
}

const iso = (date: Date | null) => date?.toISOString() ?? null;
