import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Dispute,
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { stateOf } from '../../disputes/dispute.components.ts';

/** The blockers that other teams set and clear. */
export const MANUAL_BLOCKERS = ['KYC_NOT_APPROVED', 'MERCHANT_NOT_ACTIVE', 'PAYMENT_NOT_LIVE'] as const;

/** A case and the disputes of its payment that can go on: the open ones, and the lost ones, which can be reversed. */
export interface SimulatedCase {
  readonly refundCase: RefundCase;
  readonly openDisputes: readonly Dispute[];
  readonly lostDisputes: readonly Dispute[];
}

/** The fields of every write to a case. */
export interface CaseWrite {
  readonly idempotencyKey: string;
  readonly refundCaseId: string;
}

export const isIn = (...states: readonly (keyof typeof RefundCaseStatus)[]) => {
  const statuses: ReadonlySet<RefundCaseStatus> = new Set(states.map((name) => RefundCaseStatus[name]));
  return ({ refundCase }: SimulatedCase) => statuses.has(refundCase.status);
};
export const awaitsMerchant = isIn('MERCHANT_REVIEW');
export const isInReview = isIn('SERVICE_REVIEW');
export const isProcessing = isIn('PROCESSING');
const isClosed = isIn('SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED');
export const isExecuting = (simulated: SimulatedCase) =>
  simulated.refundCase.executionStartedAt !== undefined || isProcessing(simulated);
/** Whether a case is neither closed nor being executed. */
export const isOpen = (simulated: SimulatedCase) => !isClosed(simulated) && !isExecuting(simulated);
export const isBlockedBy = ({ refundCase }: SimulatedCase, blocker: RefundBlocker) =>
  refundCase.blockedBy.includes(blocker);
export const isLate = ({ refundCase: { merchantReviewDeadlineAt: at } }: SimulatedCase) =>
  at === undefined || timestampMs(at) <= Date.now();
/** Whether any of the manual blockers is present, or absent. */
export const hasManual = (simulated: SimulatedCase, present: boolean) =>
  MANUAL_BLOCKERS.some((name) => isBlockedBy(simulated, RefundBlocker[name]) === present);

/** The open disputes whose response has yet to be submitted to the bank. */
export const disputesToSubmit = ({ openDisputes }: SimulatedCase): readonly Dispute[] =>
  openDisputes.filter((dispute) => stateOf(dispute) === 'UNDER_REVIEW');

/** Whether a case is approved and has no blocker other than the balance. */
export function isStartable(simulated: SimulatedCase): boolean {
  const others = simulated.refundCase.blockedBy.filter(
    (blocker) => blocker !== RefundBlocker.INSUFFICIENT_AVAILABLE_BALANCE,
  );
  const isApproved = isIn('APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')(simulated);
  return isApproved && !isExecuting(simulated) && others.length === 0;
}
