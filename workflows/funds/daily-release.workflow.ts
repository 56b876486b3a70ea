import { ActivityFailure, continueAsNew, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import type { Tenant } from '../../services/platform/tenant.ts';
import type { DailyReleaseResult } from './daily-release.contract.ts';
import type { FundsActivities } from './funds.activities.ts';

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
  /** The last account that the current pass has visited. */
  readonly after?: Tenant | undefined;
  /** Whether an account that the current pass has visited has more due. */
  readonly isUnfinished?: boolean;
}

interface Run {
  progress: Progress;
  activities: number;
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
  const run: Run = { progress, activities: 0 };
  for (;;) {
    const dueRequests = await releaseAllAccounts(run);
    // Refusing a request may take long: first release the funds of every other merchant.
    if (run.progress.isUnfinished) continue;
    const { handled, releasedInstallments, refusedRequests, leftRequests, failedAccounts } = run.progress;
    const due = dueRequests.filter(({ advanceRequestId }) => !handled.includes(advanceRequestId));
    if (due.length === 0) return { releasedInstallments, refusedRequests, leftRequests, failedAccounts };
    await refuseAll(run, due);
  }
}

/** Makes, or completes, one pass over all accounts. Returns the advance requests whose installments are due after it. */
async function releaseAllAccounts(run: Run): Promise<readonly AdvanceRequestKey[]> {
  for (;;) {
    if (run.activities >= ACTIVITIES_PER_RUN) await continueAsNew<typeof releaseDailyFunds>(run.progress);
    const { progress } = run;
    const { failedAccounts = 0, isUnfinished = false } = progress.after ? progress : START;
    const step = await releaseDueFunds(progress.after);
    run.activities += 1;
    run.progress = {
      ...progress,
      releasedInstallments: progress.releasedInstallments + step.releasedInstallments,
      failedAccounts: failedAccounts + (step.failedAccounts ?? 0),
      // Results of 1.0.0 do not count the accounts.
      isUnfinished: isUnfinished || step.unfinishedAccounts > 0 || (step.hasMore && !step.next),
      after: step.next,
    };
    if (!step.next) return step.dueRequests;
  }
}

async function refuseAll(run: Run, due: readonly AdvanceRequestKey[]): Promise<void> {
  const outcomes = await Promise.all(due.map(refuse));
  const count = (outcome: RefusalOutcome) => outcomes.filter((each) => each === outcome).length;
  const { progress } = run;
  run.activities += due.length;
  run.progress = {
    ...progress,
    refusedRequests: progress.refusedRequests + count('REFUSED'),
    leftRequests: progress.leftRequests + count('LEFT'),
    handled: [...progress.handled, ...due.map(({ advanceRequestId }) => advanceRequestId)],
  };
}

type RefusalOutcome = 'REFUSED' | 'PAID_OUT' | 'LEFT';

/** A request that cannot be refused yet is left to the next day and does not fail the others. */
async function refuse(request: AdvanceRequestKey): Promise<RefusalOutcome> {
  try {
    return await refuseDueRequest(request);
  } catch (error) {
    if (error instanceof ActivityFailure && !isCancellation(error)) return 'LEFT';
    throw error;
  }
}
