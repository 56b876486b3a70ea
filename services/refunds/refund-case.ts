import { type DomainError, failedPrecondition } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import type { LimitBlocker } from './refund-policy.ts';

export type RefundStatus =
  | 'MERCHANT_REVIEW'
  | 'SERVICE_REVIEW'
  | 'APPROVED_FOR_EXECUTION'
  | 'FUNDING_REQUIRED'
  | 'PROCESSING'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'CANCELED'
  | 'REJECTED';

/** The statuses of cases that are not closed. */
export const OPEN_STATUSES: readonly RefundStatus[] = [
  'MERCHANT_REVIEW',
  'SERVICE_REVIEW',
  'APPROVED_FOR_EXECUTION',
  'FUNDING_REQUIRED',
  'PROCESSING',
];

export type Initiator = 'CUSTOMER' | 'MERCHANT';
export type Reviewer = 'OPERATIONS' | 'RISK_POLICY';
export type ApprovalMode = 'INSTANT' | Reviewer;

/** Blockers that other teams set and clear. They hold a case until cleared. */
export type ManualBlocker = 'KYC_NOT_APPROVED' | 'MERCHANT_NOT_ACTIVE' | 'PAYMENT_NOT_LIVE';
export type Blocker = ManualBlocker | LimitBlocker | 'PAYMENT_DISPUTED' | 'INSUFFICIENT_AVAILABLE_BALANCE';

export type MerchantDecision = 'APPROVED' | 'CONTESTED' | 'EXPIRED';

/** The fields of a refund case that the rules read and change. */
export type RefundCase = Readonly<{
  status: RefundStatus;
  initiator: Initiator;
  approvalMode: ApprovalMode | null;
  blockedBy: readonly Blocker[];
  merchantReviewDeadlineAt: Date | null;
  /** When the merchant was notified that the deadline approaches. */
  deadlineNotifiedAt: Date | null;
  merchantDecision: MerchantDecision | null;
  /** Null without a decision, and when the decision is EXPIRED. */
  merchantDecidedAt: Date | null;
  merchantDecisionReason: string | null;
  /**
   * Set between the start of an execution and the outcome of its debit. Meanwhile the case cannot be canceled,
   * disputed or blocked.
   */
  executionStartedAt: Date | null;
  /** How many executions were started. */
  executions: number;
  /** When the debit made the refund PROCESSING; never cleared. */
  processingStartedAt: Date | null;
  providerRefundId: string | null;
  providerSubmissionStatus: string | null;
  providerSubmittedAt: Date | null;
  /** When the provider last reported on the PROCESSING refund; not shown to merchants. */
  providerReportedAt: Date | null;
  requestedAt: Date;
  /** When the case entered its status. */
  statusChangedAt: Date;
  updatedAt: Date;
}>;

export type RefundEventType =
  | 'refund.requested.v1'
  | 'refund.merchant_decided.v1'
  | 'refund.approved.v1'
  | 'refund.review_started.v1'
  | 'refund.deadline_approaching.v1'
  | 'refund.funding_required.v1'
  | 'refund.processing.v1'
  | 'refund.succeeded.v1'
  | 'refund.failed.v1'
  | 'refund.canceled.v1'
  | 'refund.rejected.v1';

/** A change that the rules allow: the new values and the events to publish, in order. */
export type Change = Readonly<{ changes: Partial<RefundCase>; events: readonly RefundEventType[] }>;

/** Changes the case's status. Publishes `events`, then the event of the new status. */
export function transition(
  refundCase: RefundCase,
  at: Date,
  changes: Partial<RefundCase> & Pick<RefundCase, 'status'>,
  ...events: RefundEventType[]
): Change {
  const changedAt = notBefore(refundCase, at);
  return {
    changes: { ...changes, statusChangedAt: changedAt, updatedAt: changedAt },
    events: [...events, ...eventsOfStatus(changes.status)],
  };
}

/** Changes values of the case but not its status. Publishes nothing. */
export function update(refundCase: RefundCase, at: Date, changes: Partial<RefundCase>): Change {
  return { changes: { ...changes, updatedAt: notBefore(refundCase, at) }, events: [] };
}

/** The events of entering a status. `refund.requested.v1` already covers the merchant's review. */
export function eventsOfStatus(status: RefundStatus): RefundEventType[] {
  switch (status) {
    case 'MERCHANT_REVIEW':
      return [];
    case 'SERVICE_REVIEW':
      return ['refund.review_started.v1'];
    case 'APPROVED_FOR_EXECUTION':
      return ['refund.approved.v1'];
    case 'FUNDING_REQUIRED':
      return ['refund.funding_required.v1'];
    case 'PROCESSING':
      return ['refund.processing.v1'];
    case 'SUCCEEDED':
      return ['refund.succeeded.v1'];
    case 'FAILED':
      return ['refund.failed.v1'];
    case 'CANCELED':
      return ['refund.canceled.v1'];
    case 'REJECTED':
      return ['refund.rejected.v1'];
    default:
      return status satisfies never;
  }
}

/** The time of a change. Clocks of machines differ, but updatedAt must never go back. */
export function notBefore(refundCase: RefundCase, at: Date): Date {
  return later(refundCase.updatedAt, at);
}

export function withBlocker(blockedBy: readonly Blocker[], blocker: Blocker): readonly Blocker[] {
  return blockedBy.includes(blocker) ? blockedBy : [...blockedBy, blocker];
}

export function withoutBlocker(blockedBy: readonly Blocker[], blocker: Blocker): readonly Blocker[] {
  return blockedBy.filter((other) => other !== blocker);
}

export function isPolicyBlocker(blocker: Blocker): boolean {
  return (
    blocker === 'REFUND_FREQUENCY_24H' || blocker === 'REFUND_VOLUME_24H' || blocker === 'PAYMENT_DISPUTED'
  );
}

/** REFUND_CASE_STATE: the case's status does not allow the change. */
export function wrongState({ status }: RefundCase): DomainError {
  return failedPrecondition('REFUND_CASE_STATE', `the refund case is ${status}`, { state: status });
}

/** REFUND_CASE_BLOCKED, with the blockers. */
export function blocked({ status, blockedBy }: RefundCase): DomainError {
  const names = blockedBy.join(',');
  return failedPrecondition('REFUND_CASE_BLOCKED', `the refund case is blocked by ${names}`, {
    state: status,
    blockedBy: names,
  });
}

/** Throws once the execution has started (REFUND_EXECUTION_STARTED) or the case is closed (REFUND_CASE_STATE). */
export function requireNotExecuting(refundCase: RefundCase): void {
  if (isExecuting(refundCase)) {
    const state = refundCase.status;
    throw failedPrecondition('REFUND_EXECUTION_STARTED', `the refund's execution has started: ${state}`, {
      state,
    });
  }
  if (isClosed(refundCase)) throw wrongState(refundCase);
}

/** Whether the money may be on its way: from the start of the execution until the provider reports the outcome. */
export function isExecuting({ status, executionStartedAt }: RefundCase): boolean {
  return executionStartedAt !== null || status === 'PROCESSING';
}

/** Whether the case is final, except for a late return by the provider. */
export const isClosed = ({ status }: RefundCase): boolean => !OPEN_STATUSES.includes(status);
