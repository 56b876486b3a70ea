import { failedPrecondition } from '../../platform/errors.ts';
import { later } from '../../platform/timestamps.ts';
import {
  type Blocker,
  blocked,
  type Change,
  isExecuting,
  type ManualBlocker,
  notBefore,
  type RefundCase,
  requireNotExecuting,
  transition,
  update,
  withBlocker,
  withoutBlocker,
  wrongState,
} from '../refund-case.ts';

const UNCHANGED: Change = { changes: {}, events: [] };

/** What the provider reports about a refund. Omitted values stay as they are. */
export type ProviderReport = Partial<
  Pick<RefundCase, 'providerRefundId' | 'providerSubmissionStatus' | 'providerSubmittedAt'>
>;

/** Throws when a refund of the disputed payment is executing, because the money may be on its way. */
export function requireDisputable(paymentCases: readonly RefundCase[]): void {
  for (const refundCase of paymentCases.filter(isExecuting)) requireNotExecuting(refundCase);
}

/** A dispute of the payment opens: an approved case returns to review, and one under review stays there. */
export function blockDisputed(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  const unfunded = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  const blockedBy = withBlocker(unfunded, 'PAYMENT_DISPUTED');
  const approved = refundCase.status === 'APPROVED_FOR_EXECUTION' || refundCase.status === 'FUNDING_REQUIRED';
  return approved
    ? transition(refundCase, at, { status: 'SERVICE_REVIEW', blockedBy })
    : block(refundCase, blockedBy, at);
}

/** The payment's last open dispute closes. The case stays in review for the reviewer or the merchant to decide. */
export function unblockDisputed(refundCase: RefundCase, at: Date): Change {
  return block(refundCase, withoutBlocker(refundCase.blockedBy, 'PAYMENT_DISPUTED'), at);
}

/** Adds a blocker set by another team. Has no effect when it is already there. */
export function addBlockerToCase(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change {
  requireNotExecuting(refundCase);
  return block(refundCase, withBlocker(refundCase.blockedBy, blocker), at);
}

/** Clears a blocker set by another team. Has no effect when it is not there. */
export function clearBlockerOfCase(refundCase: RefundCase, blocker: ManualBlocker, at: Date): Change {
  requireNotExecuting(refundCase);
  return block(refundCase, withoutBlocker(refundCase.blockedBy, blocker), at);
}

/** Whether the balance is the only blocker of the case. */
export function awaitsFundingOnly({ status, blockedBy }: RefundCase): boolean {
  return status === 'FUNDING_REQUIRED' && blockedBy.length === 1;
}

function block(refundCase: RefundCase, blockedBy: readonly Blocker[], at: Date): Change {
  if (blockedBy.length === refundCase.blockedBy.length) return UNCHANGED;
  return update(refundCase, at, { blockedBy });
}

/**
 * The execution starts, before any money moves. From now on the case cannot be canceled or disputed. A FUNDING_REQUIRED
 * case becomes approved again; the debit shows whether the balance suffices.
 */
export function startExecution(refundCase: RefundCase, at: Date): Change {
  requireNotExecuting(refundCase);
  const unfunded = refundCase.status === 'FUNDING_REQUIRED';
  if (!unfunded && refundCase.status !== 'APPROVED_FOR_EXECUTION') throw wrongState(refundCase);
  const blockedBy = withoutBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  if (blockedBy.length > 0) throw blocked(refundCase);
  const started = { executionStartedAt: notBefore(refundCase, at), executions: refundCase.executions + 1 };
  return unfunded
    ? transition(refundCase, at, { status: 'APPROVED_FOR_EXECUTION', ...started, blockedBy })
    : update(refundCase, at, started);
}

/** Whether the case is approved, without blockers, and its execution has not started. */
export function awaitsExecution(refundCase: RefundCase): boolean {
  const { status, blockedBy } = refundCase;
  return status === 'APPROVED_FOR_EXECUTION' && blockedBy.length === 0 && !isExecuting(refundCase);
}

/** Like `startExecution`, for the execution with this number. Has no effect when it has started before. */
export function beginExecution(refundCase: RefundCase, execution: number, at: Date): Change {
  if (execution === refundCase.executions) return UNCHANGED;
  if (execution !== refundCase.executions + 1) throw notCurrent(refundCase, execution);
  return startExecution(refundCase, at);
}

function notCurrent({ status, executions }: RefundCase, execution: number) {
  const message = `execution ${execution} is not the current one of the refund case`;
  return failedPrecondition('REFUND_EXECUTION_NOT_CURRENT', message, {
    state: status,
    executions: String(executions),
  });
}

/**
 * Records the outcome of the debit. Has no effect when it is already recorded.
 * @param execution the one that made the debit, by default the one in progress.
 */
export function recordDebit(
  refundCase: RefundCase,
  outcome: 'DEBITED' | 'INSUFFICIENT',
  at: Date,
  execution = refundCase.executions,
): Change {
  if (execution !== refundCase.executions) throw notCurrent(refundCase, execution);
  const repeated =
    outcome === 'DEBITED'
      ? refundCase.processingStartedAt !== null
      : refundCase.status === 'FUNDING_REQUIRED';
  if (repeated) return UNCHANGED;
  if (refundCase.executionStartedAt === null) {
    const state = refundCase.status;
    throw failedPrecondition(
      'REFUND_EXECUTION_NOT_STARTED',
      `no execution is in progress: the case is ${state}`,
      { state },
    );
  }
  if (outcome === 'DEBITED') {
    const processingStartedAt = notBefore(refundCase, at);
    return transition(refundCase, at, {
      status: 'PROCESSING',
      executionStartedAt: null,
      processingStartedAt,
    });
  }
  const blockedBy = withBlocker(refundCase.blockedBy, 'INSUFFICIENT_AVAILABLE_BALANCE');
  return transition(refundCase, at, { status: 'FUNDING_REQUIRED', executionStartedAt: null, blockedBy });
}

/**
 * The provider reports on a PROCESSING refund. SUBMITTED leaves it there. REFUSED fails it, but never a refund whose
 * outcome is known. After SUCCEEDED, only a late return (FAILED) may follow, once.
 */
export function recordOutcome(
  refundCase: RefundCase,
  outcome: 'SUBMITTED' | 'REFUSED' | 'SUCCEEDED' | 'FAILED',
  report: ProviderReport,
  at: Date,
): Change {
  if (outcome === 'SUBMITTED') return recordSubmission(refundCase, report, at);
  const lateReturn = refundCase.status === 'SUCCEEDED' && outcome === 'FAILED';
  if (refundCase.status !== 'PROCESSING' && !lateReturn) throw wrongState(refundCase);
  return transition(refundCase, at, { ...report, status: outcome === 'REFUSED' ? 'FAILED' : outcome });
}

/**
 * Whether the provider says that it has paid a refund whose debit was reversed, or that was never debited. The money may have
 * left although the merchant keeps it, so people have to look.
 */
export function isPaidUndebited(
  { status }: RefundCase,
  outcome: 'SUBMITTED' | 'REFUSED' | 'SUCCEEDED' | 'FAILED',
): boolean {
  return outcome === 'SUCCEEDED' && status !== 'PROCESSING' && status !== 'SUCCEEDED';
}

/**
 * SUBMITTED while PROCESSING replaces earlier values; a report without news only shows that the provider is alive.
 * After the outcome, which may overtake it, SUBMITTED only fills in missing values.
 */
function recordSubmission(refundCase: RefundCase, report: ProviderReport, at: Date): Change {
  switch (refundCase.status) {
    case 'PROCESSING': {
      const providerReportedAt = later(refundCase.providerReportedAt ?? at, at);
      if (addsNothing(report, refundCase)) return { changes: { providerReportedAt }, events: [] };
      return update(refundCase, at, { ...report, providerReportedAt });
    }
    case 'SUCCEEDED':
    case 'FAILED': {
      const completed = { ...report, ...known(refundCase) };
      return addsNothing(completed, refundCase) ? UNCHANGED : update(refundCase, at, completed);
    }
    default:
      throw wrongState(refundCase);
  }
}

/** What the provider has reported so far. */
function known({
  providerRefundId,
  providerSubmissionStatus,
  providerSubmittedAt,
}: RefundCase): ProviderReport {
  return {
    ...(providerRefundId !== null && { providerRefundId }),
    ...(providerSubmissionStatus !== null && { providerSubmissionStatus }),
    ...(providerSubmittedAt !== null && { providerSubmittedAt }),
  };
}

function addsNothing(report: ProviderReport, refundCase: RefundCase): boolean {
  const { providerRefundId, providerSubmissionStatus, providerSubmittedAt } = { ...refundCase, ...report };
  return (
    providerRefundId === refundCase.providerRefundId &&
    providerSubmissionStatus === refundCase.providerSubmissionStatus &&
    providerSubmittedAt?.getTime() === refundCase.providerSubmittedAt?.getTime()
  );
}
