import { ActivityFailure, continueAsNew, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { Tenant } from '../../services/platform/tenant.ts';
import type { DailyReleaseResult } from './daily-release.contract.ts';
import type { DueRequest, FundsActivities } from './funds.activities.ts';

/** A call ends within a minute. One that is lost with its worker is repeated after this. */
const { releaseDueFunds } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '90 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Long enough for a running payout to end, and for a service to recover. */
const { refuseDueRequest } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '30 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Bounds the history of one run. */
const ACTIVITIES_PER_RUN = 100;

/** The progress that one run hands to the next. */
interface Progress extends DailyReleaseResult {
  /** The advance requests that this release has handled, with any outcome. */
  readonly handled: readonly string[];
  /** Where it continues in the order of the accounts. */
  readonly after?: Tenant | undefined;
  /** Whether an account before that has more due. */
  readonly isUnfinished?: boolean;
}

const START: Progress = {
  releasedInstallments: 0,
  refusedRequests: 0,
  leftRequests: 0,
  failedAccounts: 0,
  handled: [],
};

/**
 * Releases everything due by today, also of missed days. Refuses advance requests that were not paid out in time, so
 * that their installments are freed and released with the rest. An account that fails does not stop the others.
 */
export async function releaseDailyFunds(progress: Progress = START): Promise<DailyReleaseResult> {
  const handled = new Set(progress.handled);
  let {
    releasedInstallments,
    refusedRequests,
    leftRequests,
    failedAccounts = 0,
    after,
    isUnfinished,
  } = progress;
  for (let activities = 0; ; ) {
    if (activities >= ACTIVITIES_PER_RUN) {
      const totals = { releasedInstallments, refusedRequests, leftRequests, failedAccounts };
      await continueAsNew<typeof releaseDailyFunds>({
        ...totals,
        handled: [...handled],
        after,
        isUnfinished,
      });
    }
    // Counts those of the last pass over all accounts.
    if (!after) failedAccounts = 0;
    const step = await releaseDueFunds(after);
    activities += 1;
    releasedInstallments += step.releasedInstallments;
    failedAccounts += step.failedAccounts ?? 0;
    isUnfinished ||= step.unfinishedAccounts > 0;
    after = step.next;
    // Refusing a request may take long: first release the funds of every other merchant.
    if (step.hasMore || isUnfinished) {
      // Then it starts from the first account again.
      if (!after) isUnfinished = false;
      continue;
    }
    const due = step.dueRequests.filter(({ advanceRequestId }) => !handled.has(advanceRequestId));
    for (const { advanceRequestId } of due) handled.add(advanceRequestId);
    const outcomes = await Promise.all(due.map(refuse));
    activities += due.length;
    refusedRequests += outcomes.filter((outcome) => outcome === 'REFUSED').length;
    leftRequests += outcomes.filter((outcome) => outcome === 'LEFT').length;
    if (due.length === 0) return { releasedInstallments, refusedRequests, leftRequests, failedAccounts };
  }
}

/** A request that cannot be refused yet is left to the next day and does not fail the others. */
async function refuse(request: DueRequest): Promise<'REFUSED' | 'PAID_OUT' | 'LEFT'> {
  try {
    return await refuseDueRequest(request);
  } catch (error) {
    if (error instanceof ActivityFailure && !isCancellation(error)) return 'LEFT';
    throw error;
  }
}
