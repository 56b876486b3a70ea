import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
} from '@temporalio/workflow';
import type { DailyReleaseResult } from './daily-release.contract.ts';
import type { DueRequest, FundsActivities } from './funds.activities.ts';

const { releaseDueFunds } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '10 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Long enough for a payout under way to end, and for a service to come back. */
const { refuseDueRequest } = proxyActivities<FundsActivities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '30 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Bounds the history of one run. */
const ACTIVITIES_PER_RUN = 100;

const NOTHING_YET: DailyReleaseResult = { releasedInstallments: 0, refusedRequests: 0, leftRequests: 0 };

/** Where a long run goes on. */
interface Progress extends DailyReleaseResult {
  /** Requests that this run has met, whatever became of them. */
  readonly met: readonly string[];
}

/**
 * Releases all that is due by today, of days missed too. Advance requests that were not paid out in time are refused
 * and their installments freed, then released with the rest.
 */
export async function releaseDailyFunds(from?: Progress): Promise<DailyReleaseResult> {
  const met = new Set(from?.met);
  let { releasedInstallments, refusedRequests, leftRequests } = from ?? NOTHING_YET;
  for (let activities = 0; ; ) {
    if (activities >= ACTIVITIES_PER_RUN && patched('continue-as-new')) {
      const progress = { releasedInstallments, refusedRequests, leftRequests, met: [...met] };
      await continueAsNew<typeof releaseDailyFunds>(progress);
    }
    const step = await releaseDueFunds();
    activities += 1;
    releasedInstallments += step.releasedInstallments;
    // A request may take long to be refused, and nobody else's funds wait for it.
    if (step.hasMore) continue;
    const due = step.dueRequests.filter(({ advanceRequestId }) => !met.has(advanceRequestId));
    for (const { advanceRequestId } of due) met.add(advanceRequestId);
    const outcomes = await Promise.all(due.map(refuse));
    activities += due.length;
    refusedRequests += outcomes.filter((outcome) => outcome === 'REFUSED').length;
    leftRequests += outcomes.filter((outcome) => outcome === 'LEFT').length;
    if (due.length === 0) return { releasedInstallments, refusedRequests, leftRequests };
  }
}

/** One request that cannot be refused yet does not keep the others from it. */
async function refuse(request: DueRequest): Promise<'REFUSED' | 'PAID_OUT' | 'LEFT'> {
  try {
    return await refuseDueRequest(request);
  } catch (error) {
    if (error instanceof ActivityFailure && !isCancellation(error)) return 'LEFT';
    throw error;
  }
}
