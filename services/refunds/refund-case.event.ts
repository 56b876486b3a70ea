import type { JsonObject } from '@bufbuild/protobuf';
import { CURRENCY } from '../platform/amounts.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { DisputeRow, RefundCaseRow } from './refund-case.entity.ts';
import type { RefundEventType } from './refund-case.ts';

/** Publishes events with the current state of a case. */
export async function publishEvents(
  tx: TenantTransaction,
  row: RefundCaseRow,
  events: readonly RefundEventType[],
  occurredAt = row.updatedAt,
): Promise<void> {
  for (const type of events) {
    await tx.publish({ type, objectId: row.id, data: refundEventData(row), occurredAt });
  }
}

/** Publishes an event with the current state of a dispute. */
export async function publishDisputeEvent(
  tx: TenantTransaction,
  dispute: DisputeRow,
  type: `dispute.${string}.v1`,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: dispute.id, data: disputeEventData(dispute), occurredAt });
}

/** The `data` of refund events: the refund case as the public API shows it. */
function refundEventData(row: RefundCaseRow): JsonObject {
  return {
    id: row.id,
    amount: Number(row.amountMinor),
    currency: CURRENCY,
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
function disputeEventData(row: DisputeRow): JsonObject {
  return {
    id: row.id,
    paymentIntentId: row.paymentIntentId,
    ...(row.saleId !== null && { saleId: row.saleId }),
    ...(row.amountMinor !== null && { amount: Number(row.amountMinor) }),
    currency: CURRENCY,
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
