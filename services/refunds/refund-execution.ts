import { failedPrecondition } from '../platform/errors.ts';
import {
  type Blocker,
  blocked,
  type Change,
  isExecuting,
  type ManualBlocker,
  move,
  notBefore,
  type RefundCase,
  requireNotExecuting,
  stay,
  withBlocker,
  withoutBlocker,
  wrongState,
} from './refund-case.ts';

const UNCHANGED: Change = { changes: {}, events: [] };

/** What the provider tells of its side; what it leaves out stays as it was. */
export type ProviderAccount = Partial<
  Pick<RefundCase, 'providerRefundId' | 'providerSubmissionStatus' | 'providerSubmittedAt'>
>;

/** Refuses a dispute of a payment while a refund of it is executing: the money may be on its way. */
export function requireDisputable(paymentCases: readonly RefundCase[]): void {
  for (const refundCase of paymentCases.filter(isExecuting)) requireNotExecuting(refundCase);
}

/** A dispute of the payment opens: an approved case goes back to review, one under review stays there. */
export function blockDisputed(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  const unfunded = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  const blockedBy = withBlocker(unfunded, 'PAYMENT_DISPUTED');
  const approved = refundCase.status === 'APPROVED_FOR_EXECUTION' || refundCase.status === 'FUNDING_REQUIRED';
  return approved ? move(refundCase, 'SERVICE_REVIEW', at, { blockedBy }) : block(refundCase, blockedBy, at);
}

/** The payment's last open dispute closes; what follows is the reviewers' or the merchant's to decide. */
export function unblockDisputed(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  return block(refundCase, withoutBlocker(refundCase.blockedBy, 'PAYMENT_DISPUTED'), at);
}

/** Adds a blocker of another team; adding it again changes nothing. */
export function addBlocker(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change {
  requireNotExecuting(refundCase);
  return block(refundCase, withBlocker(refundCase.blockedBy, blocker), at);
}

/** Clears a blocker of another team; one that is not there changes nothing. */
export function clearBlocker(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change {
  requireNotExecuting(refundCase);
  return block(refundCase, withoutBlocker(refundCase.blockedBy, blocker), at);
}

/** Whether the balance alone keeps the case from being executed. */
export function awaitsFundingOnly({ status, blockedBy }: RefundCase): boolean {
  return status === 'FUNDING_REQUIRED' && blockedBy.length === 1;
}

function block(refundCase: RefundCase, blockedBy: readonly Blocker[], at: Date): Change {
  if (blockedBy.length === refundCase.blockedBy.length) return UNCHANGED;
  return stay(refundCase, at, { blockedBy });
}

/**
 * Execution starts, before any money moves: from here neither cancel nor dispute is possible.
 * A FUNDING_REQUIRED case is approved again by it; the debit tells whether the balance suffices.
 */
export function startExecution(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  const unfunded = refundCase.status === 'FUNDING_REQUIRED';
  if (!unfunded && refundCase.status !== 'APPROVED_FOR_EXECUTION') throw wrongState(refundCase);
  const blockedBy = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  if (blockedBy.length > 0) throw blocked(refundCase);
  const started = { executionStartedAt: notBefore(refundCase, at), executions: refundCase.executions + 1 };
  return unfunded
    ? move(refundCase, 'APPROVED_FOR_EXECUTION', at, { ...started, blockedBy })
    : stay(refundCase, at, started);
}

/** The debit's outcome ends the start of the execution; recording it again changes nothing. */
export function recordDebit(refundCase: RefundCase, outcome: 'DEBITED' | 'INSUFFICIENT', at: Date): Change {
  const repeated =
    outcome === 'DEBITED'
      ? refundCase.processingStartedAt !== null
      : refundCase.status === 'FUNDING_REQUIRED';
  if (repeated) return UNCHANGED;
  if (refundCase.executionStartedAt === null) {
    const state = refundCase.status;
    throw failedPrecondition('REFUND_EXECUTION_NOT_STARTED', `no execution is under way: ${state}`, {
      state,
    });
  }
  if (outcome === 'DEBITED') {
    const processingStartedAt = notBefore(refundCase, at);
    return move(refundCase, 'PROCESSING', at, { executionStartedAt: null, processingStartedAt });
  }
  const blockedBy = withBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  return move(refundCase, 'FUNDING_REQUIRED', at, { executionStartedAt: null, blockedBy });
}

/**
 * The provider tells of a PROCESSING refund. SUBMITTED leaves it there; after SUCCEEDED only the
 * late return (FAILED) may follow, once.
 */
export function recordOutcome(
  refundCase: RefundCase,
  outcome: 'SUBMITTED' | 'SUCCEEDED' | 'FAILED',
  told: ProviderAccount,
  at: Date,
): Change {
  const lateReturn = refundCase.status === 'SUCCEEDED' && outcome === 'FAILED';
  if (refundCase.status !== 'PROCESSING' && !lateReturn) throw wrongState(refundCase);
  return outcome === 'SUBMITTED' ? stay(refundCase, at, told) : move(refundCase, outcome, at, told);
}
