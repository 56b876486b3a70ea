import {
  blocked,
  type Change,
  isExecuting,
  type ManualBlocker,
  move,
  notBefore,
  type RefundCase,
  type Refusal,
  refuseOnceExecuting,
  stay,
  withBlocker,
  withoutBlocker,
  wrongState,
} from './refund-case.ts';

/** What the provider tells of its side; what it leaves out stays as it was. */
export type ProviderAccount = Partial<
  Pick<RefundCase, 'providerRefundId' | 'providerSubmissionStatus' | 'providerSubmittedAt'>
>;

/** Refuses a dispute of a payment while a refund of it is executing: the money may be on its way. */
export function checkDisputable(paymentCases: readonly RefundCase[]): Refusal | null {
  const executing = paymentCases.find(isExecuting);
  return executing === undefined ? null : refuseOnceExecuting(executing);
}

/** A dispute of the payment opens: an approved case goes back to review, one under review stays there. */
export function blockDisputed(refundCase: RefundCase, at: Date): Change | Refusal {
  const refusal = refuseOnceExecuting(refundCase);
  if (refusal !== null) return refusal;
  const unfunded = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  const blockedBy = withBlocker(unfunded, 'PAYMENT_DISPUTED');
  const approved = refundCase.status === 'APPROVED_FOR_EXECUTION' || refundCase.status === 'FUNDING_REQUIRED';
  return approved
    ? move(refundCase, 'SERVICE_REVIEW', at, { blockedBy })
    : stay(refundCase, at, { blockedBy });
}

/** The payment's last open dispute closes; what follows is the reviewers' or the merchant's to decide. */
export function unblockDisputed(refundCase: RefundCase, at: Date): Change | Refusal {
  const refusal = refuseOnceExecuting(refundCase);
  if (refusal !== null) return refusal;
  return stay(refundCase, at, { blockedBy: withoutBlocker(refundCase.blockedBy, 'PAYMENT_DISPUTED') });
}

/** Adds a blocker of another team; adding it again changes nothing but updatedAt. */
export function addBlocker(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change | Refusal {
  const refusal = refuseOnceExecuting(refundCase);
  if (refusal !== null) return refusal;
  return stay(refundCase, at, { blockedBy: withBlocker(refundCase.blockedBy, blocker) });
}

/** Clears a blocker of another team; one that is not there is no error. */
export function clearBlocker(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change | Refusal {
  const refusal = refuseOnceExecuting(refundCase);
  if (refusal !== null) return refusal;
  return stay(refundCase, at, { blockedBy: withoutBlocker(refundCase.blockedBy, blocker) });
}

/**
 * Execution starts, before any money moves: from here neither cancel nor dispute is possible.
 * A FUNDING_REQUIRED case is approved again by it; the debit tells whether the balance suffices.
 */
export function startExecution(refundCase: RefundCase, at: Date): Change | Refusal {
  if (refundCase.status === 'FUNDING_REQUIRED') return restartFunded(refundCase, at);
  if (refundCase.status !== 'APPROVED_FOR_EXECUTION') return wrongState(refundCase);
  if (refundCase.executionStartedAt !== null)
    return refuseOnceExecuting(refundCase) ?? wrongState(refundCase);
  if (refundCase.blockedBy.length > 0) return blocked(refundCase);
  return stay(refundCase, at, { executionStartedAt: notBefore(refundCase, at) });
}

function restartFunded(refundCase: RefundCase, at: Date): Change | Refusal {
  const blockedBy = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  if (blockedBy.length > 0) return blocked(refundCase);
  const executionStartedAt = notBefore(refundCase, at);
  return move(refundCase, 'APPROVED_FOR_EXECUTION', at, { blockedBy, executionStartedAt });
}

/** The debit's outcome ends the start of the execution; recording it again changes nothing. */
export function recordDebit(
  refundCase: RefundCase,
  outcome: 'DEBITED' | 'INSUFFICIENT',
  at: Date,
): Change | Refusal {
  const repeated =
    outcome === 'DEBITED'
      ? refundCase.processingStartedAt !== null
      : refundCase.status === 'FUNDING_REQUIRED';
  if (repeated) return { changes: {}, events: [] };
  if (refundCase.executionStartedAt === null) {
    return { refused: 'REFUND_EXECUTION_NOT_STARTED', metadata: { status: refundCase.status } };
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
export function recordProviderOutcome(
  refundCase: RefundCase,
  outcome: 'SUBMITTED' | 'SUCCEEDED' | 'FAILED',
  told: ProviderAccount,
  at: Date,
): Change | Refusal {
  const lateReturn = refundCase.status === 'SUCCEEDED' && outcome === 'FAILED';
  if (refundCase.status !== 'PROCESSING' && !lateReturn) return wrongState(refundCase);
  return outcome === 'SUBMITTED' ? stay(refundCase, at, told) : move(refundCase, outcome, at, told);
}
