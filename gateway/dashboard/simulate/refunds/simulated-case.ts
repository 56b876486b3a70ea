import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Dispute,
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { View } from '../../shell/view.ts';

/** Blockers that other teams set and clear. */
export const MANUAL_BLOCKERS = ['KYC_NOT_APPROVED', 'MERCHANT_NOT_ACTIVE', 'PAYMENT_NOT_LIVE'] as const;

/** A case, and the disputes of its payment that are open. */
export interface SimulatedCase {
  readonly refundCase: RefundCase;
  readonly openDisputes: readonly Dispute[];
}

/** The tenant, the form's key and the case: what every write of a case asks with. */
export type CaseWrite = View['tenant'] & { readonly idempotencyKey: string; readonly refundCaseId: string };

/** Whether a case is in one of these states. */
export const isIn = (...states: readonly (keyof typeof RefundCaseStatus)[]) => {
  const statuses: ReadonlySet<RefundCaseStatus> = new Set(states.map((name) => RefundCaseStatus[name]));
  return ({ refundCase }: SimulatedCase) => statuses.has(refundCase.status);
};
export const isWaiting = isIn('MERCHANT_REVIEW');
export const isInReview = isIn('SERVICE_REVIEW');
export const isProcessing = isIn('PROCESSING');
const isClosed = isIn('SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED');
/** Whether a case is on its way to the provider. */
export const isExecuting = (simulated: SimulatedCase) =>
  simulated.refundCase.executionStartedAt !== undefined || isProcessing(simulated);
/** Whether a case is neither closed nor on its way to the provider. */
export const isOpen = (simulated: SimulatedCase) => !isClosed(simulated) && !isExecuting(simulated);
export const isBlockedBy = ({ refundCase }: SimulatedCase, blocker: RefundBlocker) =>
  refundCase.blockedBy.includes(blocker);
/** Whether the merchant's time to decide is over. */
export const isLate = ({ refundCase: { merchantReviewDeadlineAt: at } }: SimulatedCase) =>
  at === undefined || timestampMs(at) <= Date.now();
/** Whether there is a blocker that other teams set and that is present, or absent. */
export const hasManual = (simulated: SimulatedCase, present: boolean) =>
  MANUAL_BLOCKERS.some((name) => isBlockedBy(simulated, RefundBlocker[name]) === present);

/** Whether nothing but the balance holds an approved case up. */
export function isStartable(simulated: SimulatedCase): boolean {
  const others = simulated.refundCase.blockedBy.filter(
    (blocker) => blocker !== RefundBlocker.INSUFFICIENT_AVAILABLE_BALANCE,
  );
  const isApproved = isIn('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')(simulated);
  return isApproved && !isExecuting(simulated) && others.length === 0;
}
