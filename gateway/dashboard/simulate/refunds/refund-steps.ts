import { timestampNow } from '@bufbuild/protobuf/wkt';
import {
  ApprovalMode,
  DisputeOutcome,
  MerchantDecisionKind,
  ProviderOutcome,
  RefundBlocker,
  ReviewDecision,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { View } from '../../shell/view.ts';
import { disputeTerms } from '../simulated-facts.ts';
import { completeExecution } from './complete-execution.ts';
import type { refundStepTexts } from './refund-steps.texts.ts';
import {
  awaitsMerchant,
  type CaseWrite,
  disputesToSubmit,
  hasManual,
  isBlockedBy,
  isExecuting,
  isIn,
  isInReview,
  isLate,
  isOpen,
  isProcessing,
  isStartable,
  MANUAL_BLOCKERS,
  type SimulatedCase,
} from './simulated-case.ts';

export const REVIEWERS = ['OPERATIONS', 'RISK_POLICY'] as const;

export type StepName = keyof (typeof refundStepTexts)['en']['steps'];
export type Choice =
  | 'reason'
  | 'reviewer'
  | 'blocker'
  | 'present-blocker'
  | 'dispute'
  | 'responded-dispute'
  | 'lost-dispute';

export interface StepForm {
  readonly reason?: string;
  readonly reviewer?: string;
  readonly blocker?: string;
  readonly dispute?: string;
}

interface Act {
  readonly view: View;
  readonly write: CaseWrite;
  readonly form: StepForm;
}

/** A step of a case, and when it is possible. */
export interface RefundStep {
  readonly name: StepName;
  readonly choices?: readonly Choice[];
  isPossible(simulated: SimulatedCase): boolean;
  act(act: Act): Promise<unknown>;
}

const decide =
  (decision: MerchantDecisionKind) =>
  ({ view, write, form: { reason } }: Act) =>
    view.clients.refundCases.decideRefundCase({ ...write, decision, ...(reason && { reason }) });

const review =
  (decision: ReviewDecision) =>
  ({ view, write, form: { reviewer } }: Act) => {
    const approvalMode = ApprovalMode[reviewer === 'RISK_POLICY' ? 'RISK_POLICY' : 'OPERATIONS'];
    return view.clients.refundCases.reviewRefundCase({ ...write, decision, approvalMode });
  };

const provider =
  (outcome: ProviderOutcome, submissionStatus: string) =>
  ({ view, write }: Act) => {
    const record = { providerRefundId: `sim_${write.refundCaseId.slice(0, 8)}`, submissionStatus };
    const submitted = outcome === ProviderOutcome.SUBMITTED && { submittedAt: timestampNow() };
    return view.clients.refundCases.recordProviderOutcome({ ...write, ...record, ...submitted, outcome });
  };

const blockerOf = ({ form: { blocker } }: Act) =>
  RefundBlocker[MANUAL_BLOCKERS.find((name) => name === blocker) ?? 'KYC_NOT_APPROVED'];

const ofDispute = ({ write: { idempotencyKey }, form: { dispute: disputeId = '' } }: Act) => ({
  idempotencyKey,
  disputeId,
});

const close = (outcome: DisputeOutcome) => (act: Act) =>
  act.view.clients.refundCases.closeDispute({ ...ofDispute(act), outcome });

/** All steps of a case, in the usual order. */
export const REFUND_STEPS: readonly RefundStep[] = [
  { name: 'approve', isPossible: awaitsMerchant, act: decide(MerchantDecisionKind.APPROVED) },
  {
    name: 'contest',
    choices: ['reason'],
    isPossible: awaitsMerchant,
    act: decide(MerchantDecisionKind.CONTESTED),
  },
  {
    name: 'announce-deadline',
    isPossible: (simulated) => awaitsMerchant(simulated) && !isLate(simulated),
    act: ({ view, write }) => view.clients.refundCases.announceReviewDeadline(write),
  },
  {
    name: 'expire',
    isPossible: (simulated) => awaitsMerchant(simulated) && isLate(simulated),
    act: ({ view, write }) => view.clients.refundCases.expireMerchantReview(write),
  },
  {
    name: 'review-approve',
    choices: ['reviewer'],
    isPossible: (simulated) =>
      isInReview(simulated) && !isBlockedBy(simulated, RefundBlocker.PAYMENT_DISPUTED),
    act: review(ReviewDecision.APPROVE),
  },
  {
    name: 'review-reject',
    choices: ['reviewer'],
    isPossible: isInReview,
    act: review(ReviewDecision.REJECT),
  },
  {
    name: 'start',
    isPossible: isStartable,
    act: ({ view, write }) => view.clients.refundCases.startRefund(write),
  },
  {
    name: 'complete',
    isPossible: ({ refundCase }) => refundCase.executionStartedAt !== undefined,
    act: ({ view, write }) => completeExecution(view, write),
  },
  {
    name: 'submitted',
    isPossible: isProcessing,
    act: provider(ProviderOutcome.SUBMITTED, 'accepted'),
  },
  {
    name: 'succeeded',
    isPossible: isProcessing,
    act: provider(ProviderOutcome.SUCCEEDED, 'settled'),
  },
  {
    name: 'failed',
    isPossible: isProcessing,
    act: provider(ProviderOutcome.FAILED, 'rejected'),
  },
  {
    name: 'returned',
    isPossible: isIn('SUCCEEDED'),
    act: provider(ProviderOutcome.FAILED, 'returned'),
  },
  {
    name: 'add-blocker',
    choices: ['blocker'],
    isPossible: (simulated) => isOpen(simulated) && hasManual(simulated, false),
    act: (act) => act.view.clients.refundCases.addBlocker({ ...act.write, blocker: blockerOf(act) }),
  },
  {
    name: 'clear-blocker',
    choices: ['present-blocker'],
    isPossible: (simulated) => isOpen(simulated) && hasManual(simulated, true),
    act: (act) => act.view.clients.refundCases.clearBlocker({ ...act.write, blocker: blockerOf(act) }),
  },
  {
    name: 'open-dispute',
    isPossible: (simulated) => !isExecuting(simulated) && simulated.openDisputes.length === 0,
    act: openDispute,
  },
  {
    name: 'submit-response',
    choices: ['responded-dispute'],
    isPossible: (simulated) => disputesToSubmit(simulated).length > 0,
    act: (act) => act.view.clients.refundCases.recordResponseSubmission(ofDispute(act)),
  },
  {
    name: 'win-dispute',
    choices: ['dispute'],
    isPossible: ({ openDisputes }) => openDisputes.length > 0,
    act: close(DisputeOutcome.WON),
  },
  {
    name: 'lose-dispute',
    choices: ['dispute'],
    isPossible: ({ openDisputes }) => openDisputes.length > 0,
    act: close(DisputeOutcome.LOST),
  },
  {
    name: 'reverse-dispute',
    choices: ['lost-dispute'],
    isPossible: ({ lostDisputes }) => lostDisputes.length > 0,
    act: (act) => act.view.clients.refundCases.reverseDispute(ofDispute(act)),
  },
  {
    name: 'cancel',
    isPossible: isOpen,
    act: ({ view, write }) => view.clients.refundCases.cancelRefundCase(write),
  },
];

/** The form's key is the dispute's id, so that a resubmitted form opens one dispute. */
async function openDispute({ view, write }: Act): Promise<void> {
  const { refundCaseId, ...request } = write;
  const { refundCase } = await view.clients.refundCases.getRefundCase({ refundCaseId });
  const { paymentIntentId, saleId, amountMinor } = refundCase!;
  const disputeId = request.idempotencyKey;
  // A dispute of a sale is about what remains of it; without a sale, the amount is stated.
  const dispute = {
    disputeId,
    paymentIntentId,
    ...disputeTerms(),
    ...(saleId === undefined && { amountMinor }),
  };
  await view.clients.refundCases.openDispute({ ...request, ...dispute });
}
