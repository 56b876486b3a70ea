import { failedPrecondition } from '../platform/errors.ts';
import {
  type ApprovalMode,
  arrivalEvents,
  blocked,
  type Change,
  type Initiator,
  isPolicyBlocker,
  move,
  notBefore,
  type RefundCase,
  type RefundEventType,
  type RefundStatus,
  type Reviewer,
  requireNotExecuting,
  withBlocker,
  wrongState,
} from './refund-case.ts';
import type { LimitBlocker } from './refund-policy.ts';

export type Opening = Readonly<{
  initiator: Initiator;
  approvalMode: ApprovalMode | null;
  /** Limits exceeded and PAYMENT_DISPUTED while a dispute of the payment is open. */
  policyBlockers: readonly (LimitBlocker | 'PAYMENT_DISPUTED')[];
  /** When the merchant's review ends, should the case come to one. */
  merchantReviewDeadlineAt: Date;
}>;

/** A new case, where the first rule that fits puts it: policy, instant approval, initiator. */
export function openCase(
  opening: Opening,
  at: Date,
): { refundCase: RefundCase; events: readonly RefundEventType[] } {
  const status = startingStatus(opening);
  const refundCase: RefundCase = {
    status,
    initiator: opening.initiator,
    approvalMode: opening.approvalMode,
    blockedBy: opening.policyBlockers,
    merchantReviewDeadlineAt: status === 'MERCHANT_REVIEW' ? opening.merchantReviewDeadlineAt : null,
    deadlineNotifiedAt: null,
    merchantDecision: null,
    merchantDecidedAt: null,
    merchantDecisionReason: null,
    executionStartedAt: null,
    executions: 0,
    processingStartedAt: null,
    providerRefundId: null,
    providerSubmissionStatus: null,
    providerSubmittedAt: null,
    requestedAt: at,
    updatedAt: at,
  };
  return { refundCase, events: ['refund.requested.v1', ...arrivalEvents(status)] };
}

/** The merchant approves or contests. Approval meets the limits as they stand now. */
export function decideAsMerchant(
  refundCase: RefundCase,
  decision: 'APPROVED' | 'CONTESTED',
  reason: string | null,
  exceededLimits: readonly LimitBlocker[],
  at: Date,
): Change {
  if (refundCase.status !== 'MERCHANT_REVIEW') throw wrongState(refundCase);
  const merchantDecidedAt = notBefore(refundCase, at);
  const decided = { merchantDecision: decision, merchantDecidedAt, merchantDecisionReason: reason };
  if (decision === 'CONTESTED') {
    return move(refundCase, 'SERVICE_REVIEW', at, decided, 'refund.merchant_decided.v1');
  }
  const blockedBy = exceededLimits.reduce(withBlocker, refundCase.blockedBy);
  const next = blockedBy.some(isPolicyBlocker) ? 'SERVICE_REVIEW' : 'APPROVED_FOR_EXECUTION';
  return move(refundCase, next, at, { ...decided, blockedBy }, 'refund.merchant_decided.v1');
}

/**
 * The merchant is told that the deadline approaches: once, `noticeMs` before it, or in the middle of a review that is
 * not longer than that. Nothing when it was told or is too late to tell; refuses while it is too early. The case itself
 * stays as it is.
 */
export function announceDeadline(refundCase: RefundCase, noticeMs: number, at: Date): Change {
  const { status, merchantReviewDeadlineAt: deadline, requestedAt } = refundCase;
  if (status !== 'MERCHANT_REVIEW' || deadline === null) throw wrongState(refundCase);
  if (refundCase.deadlineNotifiedAt !== null || at >= deadline) return { changes: {}, events: [] };
  const reviewMs = deadline.getTime() - requestedAt.getTime();
  const noticeAt = new Date(deadline.getTime() - (reviewMs > noticeMs ? noticeMs : Math.floor(reviewMs / 2)));
  if (at < noticeAt) {
    throw failedPrecondition('DEADLINE_NOTICE_NOT_DUE', 'there is time left before the notice', {
      state: status,
      noticeAt: noticeAt.toISOString(),
    });
  }
  return { changes: { deadlineNotifiedAt: at }, events: ['refund.deadline_approaching.v1'] };
}

/** The deadline passes undecided. Refuses while it is still to come. */
export function expireMerchantReview(refundCase: RefundCase, at: Date): Change {
  const { status, merchantReviewDeadlineAt } = refundCase;
  if (status !== 'MERCHANT_REVIEW' || merchantReviewDeadlineAt === null) throw wrongState(refundCase);
  if (at < merchantReviewDeadlineAt) {
    const deadline = merchantReviewDeadlineAt.toISOString();
    throw failedPrecondition('MERCHANT_REVIEW_NOT_DUE', `the merchant may decide until ${deadline}`, {
      merchantReviewDeadlineAt: deadline,
    });
  }
  const decided = { merchantDecision: 'EXPIRED' } as const;
  return move(refundCase, 'SERVICE_REVIEW', at, decided, 'refund.merchant_decided.v1');
}

/** The review approves: it overrides the limits, never an open dispute (the money may go out twice). */
export function approveInReview(refundCase: RefundCase, reviewer: Reviewer, at: Date): Change {
  if (refundCase.status !== 'SERVICE_REVIEW') throw wrongState(refundCase);
  if (refundCase.blockedBy.includes('PAYMENT_DISPUTED')) throw blocked(refundCase);
  const blockedBy = refundCase.blockedBy.filter((blocker) => !isPolicyBlocker(blocker));
  return move(refundCase, 'APPROVED_FOR_EXECUTION', at, { approvalMode: reviewer, blockedBy });
}

/** The review refuses the refund, for good. */
export function rejectInReview(refundCase: RefundCase, reviewer: Reviewer, at: Date): Change {
  if (refundCase.status !== 'SERVICE_REVIEW') throw wrongState(refundCase);
  return move(refundCase, 'REJECTED', at, { approvalMode: reviewer, blockedBy: [] });
}

/** Whoever requested the refund withdraws it, until its execution has started. */
export function cancelCase(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  return move(refundCase, 'CANCELED', at, { blockedBy: [] });
}

function startingStatus({ policyBlockers, approvalMode, initiator }: Opening): RefundStatus {
  if (policyBlockers.length > 0) return 'SERVICE_REVIEW';
  if (approvalMode === 'INSTANT') return 'APPROVED_FOR_EXECUTION';
  return initiator === 'CUSTOMER' ? 'MERCHANT_REVIEW' : 'APPROVED_FOR_EXECUTION';
}
