import { failedPrecondition } from '../../platform/errors.ts';
import {
  type ApprovalMode,
  blocked,
  type Change,
  eventsOfStatus,
  type Initiator,
  isPolicyBlocker,
  notBefore,
  type RefundCase,
  type RefundEventType,
  type RefundStatus,
  type Reviewer,
  requireNotExecuting,
  transition,
  withBlocker,
  wrongState,
} from '../refund-case.ts';
import type { LimitBlocker } from '../refund-policy.ts';

export type Opening = Readonly<{
  initiator: Initiator;
  approvalMode: ApprovalMode | null;
  /** Limits exceeded and PAYMENT_DISPUTED while a dispute of the payment is open. */
  policyBlockers: readonly (LimitBlocker | 'PAYMENT_DISPUTED')[];
  /** When the merchant's review ends, if the case starts with one. */
  merchantReviewDeadlineAt: Date;
}>;

/** A new case, with its status by the first rule that applies: policy, instant approval, initiator. */
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
    providerReportedAt: null,
    requestedAt: at,
    statusChangedAt: at,
    updatedAt: at,
  };
  return { refundCase, events: ['refund.requested.v1', ...eventsOfStatus(status)] };
}

export interface Decision {
  readonly decision: 'APPROVED' | 'CONTESTED';
  readonly reason: string | null;
}

/** The merchant approves or contests. An approval is subject to the limits exceeded now. */
export function decideAsMerchant(
  refundCase: RefundCase,
  { decision, reason }: Decision,
  exceededLimits: readonly LimitBlocker[],
  at: Date,
): Change {
  if (refundCase.status !== 'MERCHANT_REVIEW') throw wrongState(refundCase);
  const merchantDecidedAt = notBefore(refundCase, at);
  const decided = { merchantDecision: decision, merchantDecidedAt, merchantDecisionReason: reason };
  if (decision === 'CONTESTED') {
    return transition(refundCase, at, { ...decided, status: 'SERVICE_REVIEW' }, 'refund.merchant_decided.v1');
  }
  const blockedBy = exceededLimits.reduce(withBlocker, refundCase.blockedBy);
  const status = blockedBy.some(isPolicyBlocker) ? 'SERVICE_REVIEW' : 'APPROVED_FOR_EXECUTION';
  return transition(refundCase, at, { ...decided, status, blockedBy }, 'refund.merchant_decided.v1');
}

/**
 * Notifies the merchant once that the deadline is approaching: `noticeMs` before it, or halfway through a review that is
 * not longer than that. Has no effect after that or once the deadline has passed, and throws before. The status does not
 * change.
 */
export function announceDeadline(refundCase: RefundCase, noticeMs: number, at: Date): Change {
  const { status, merchantReviewDeadlineAt: deadline, requestedAt } = refundCase;
  if (status !== 'MERCHANT_REVIEW' || deadline === null) throw wrongState(refundCase);
  if (refundCase.deadlineNotifiedAt !== null || at >= deadline) return { changes: {}, events: [] };
  const reviewMs = deadline.getTime() - requestedAt.getTime();
  const noticeAt = new Date(deadline.getTime() - (reviewMs > noticeMs ? noticeMs : Math.floor(reviewMs / 2)));
  if (at < noticeAt) {
    throw failedPrecondition('DEADLINE_NOTICE_NOT_DUE', 'the deadline notice is not due yet', {
      state: status,
      noticeAt: noticeAt.toISOString(),
    });
  }
  return { changes: { deadlineNotifiedAt: at }, events: ['refund.deadline_approaching.v1'] };
}

/** The deadline has passed without a decision. Throws before the deadline. */
export function expireReview(refundCase: RefundCase, at: Date): Change {
  const { status, merchantReviewDeadlineAt } = refundCase;
  if (status !== 'MERCHANT_REVIEW' || merchantReviewDeadlineAt === null) throw wrongState(refundCase);
  if (at < merchantReviewDeadlineAt) {
    const deadline = merchantReviewDeadlineAt.toISOString();
    throw failedPrecondition('MERCHANT_REVIEW_NOT_DUE', `the merchant may decide until ${deadline}`, {
      merchantReviewDeadlineAt: deadline,
    });
  }
  const decided = { merchantDecision: 'EXPIRED' } as const;
  return transition(refundCase, at, { ...decided, status: 'SERVICE_REVIEW' }, 'refund.merchant_decided.v1');
}

/** The reviewer approves. This overrides the limits, but not an open dispute, which could pay out the money twice. */
export function approveInReview(refundCase: RefundCase, reviewer: Reviewer, at: Date): Change {
  if (refundCase.status !== 'SERVICE_REVIEW') throw wrongState(refundCase);
  if (refundCase.blockedBy.includes('PAYMENT_DISPUTED')) throw blocked(refundCase);
  const blockedBy = refundCase.blockedBy.filter((blocker) => !isPolicyBlocker(blocker));
  return transition(refundCase, at, { status: 'APPROVED_FOR_EXECUTION', approvalMode: reviewer, blockedBy });
}

/** The reviewer rejects the refund, which is final. */
export function rejectInReview(refundCase: RefundCase, reviewer: Reviewer, at: Date): Change {
  if (refundCase.status !== 'SERVICE_REVIEW') throw wrongState(refundCase);
  return transition(refundCase, at, { status: 'REJECTED', approvalMode: reviewer, blockedBy: [] });
}

/** The requester withdraws the refund, which is possible until its execution starts. */
export function cancelCase(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  return transition(refundCase, at, { status: 'CANCELED', blockedBy: [] });
}

function startingStatus({ policyBlockers, approvalMode, initiator }: Opening): RefundStatus {
  if (policyBlockers.length > 0) return 'SERVICE_REVIEW';
  if (approvalMode === 'INSTANT') return 'APPROVED_FOR_EXECUTION';
  return initiator === 'CUSTOMER' ? 'MERCHANT_REVIEW' : 'APPROVED_FOR_EXECUTION';
}
