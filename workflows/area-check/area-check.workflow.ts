import {
  ActivityFailure,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  sleep,
} from '@temporalio/workflow';
import type { AreaCheckActivities } from './area-check.activities.ts';
import {
  type AreaCheckInput,
  type AreaCheckProgress,
  type AreaCheckResult,
  type AreaDifference,
  COMPARISONS,
  type ComparisonName,
} from './area-check.contract.ts';

const { compareAreas, compareAgain, reportAreaDifferences } = proxyActivities<AreaCheckActivities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '30 minutes',
  retry: { maximumInterval: '1 minute' },
});

/** Longer than any step of a flow takes while everything runs. */
const RECHECK_AFTER_MS = 5 * 60_000;
/** Bounds the history of one run. */
const CALLS_PER_RUN = 100;
/** The maximum of one comparison. More have a common cause, which the first ones show. */
const MAX_CANDIDATES = 500;
const CANDIDATES_PER_CALL = 50;
const DIFFERENCES_IN_RESULT = 100;

/** Leaves out comparisons added since, in a check that 1.0.0 has started. */
const start = (): AreaCheckProgress => ({
  remaining: patched('dispute-deductions')
    ? COMPARISONS
    : COMPARISONS.filter((comparison) => comparison !== 'DISPUTE_DEDUCTIONS'),
  compared: 0,
  candidates: [],
  failed: [],
  cutShort: [],
});

/**
 * Compares what the areas say about the same refunds, holds, disputes and advances. A record may change between the
 * reads of two areas, so only differences that are still there five minutes later are reported: by metric, log and
 * result.
 */
export async function checkAreas({
  recheckAfterMs = RECHECK_AFTER_MS,
  progress = start(),
}: AreaCheckInput = {}): Promise<AreaCheckResult> {
  let done = progress;
  for (let calls = 0; done.remaining.length > 0; calls += 1) {
    if (calls === CALLS_PER_RUN) await continueAsNew<typeof checkAreas>({ recheckAfterMs, progress: done });
    done = await compareNext(done);
  }
  const { compared, candidates, cutShort } = done;
  if (candidates.length > 0) {
    setCurrentDetails(`Compares ${candidates.length} records again in ${recheckAfterMs / 1000} seconds.`);
    await sleep(recheckAfterMs);
  }
  const { differences, failed } = await compareCandidates(done);
  await reportAreaDifferences({ differences, complete: failed.length === 0 });
  return {
    compared,
    candidates: candidates.length,
    differences: differences.slice(0, DIFFERENCES_IN_RESULT),
    differenceCount: differences.length,
    failed,
    cutShort,
  };
}

/** Makes one call of the first unfinished comparison. A comparison that fails does not stop the others. */
async function compareNext({ after, ...done }: AreaCheckProgress): Promise<AreaCheckProgress> {
  const [comparison, ...remaining] = done.remaining;
  if (comparison === undefined) return done;
  const step = await unlessFailed(() => compareAreas(comparison, after));
  if (step === undefined) return { ...done, remaining, failed: [...done.failed, comparison] };
  const candidates = [...done.candidates, ...step.candidates];
  const compared = done.compared + step.compared;
  if (step.next === undefined) return { ...done, remaining, compared, candidates };
  const found = candidates.filter((candidate) => candidate.comparison === comparison).length;
  if (found >= MAX_CANDIDATES) {
    return { ...done, remaining, compared, candidates, cutShort: [...done.cutShort, comparison] };
  }
  return { ...done, compared, candidates, after: step.next };
}

/** The candidates that still differ. */
async function compareCandidates({ candidates, failed }: AreaCheckProgress) {
  const differences: AreaDifference[] = [];
  const failures = new Set<ComparisonName>(failed);
  for (const comparison of COMPARISONS) {
    const own = candidates.filter((candidate) => candidate.comparison === comparison);
    for (let start = 0; start < own.length; start += CANDIDATES_PER_CALL) {
      const some = own.slice(start, start + CANDIDATES_PER_CALL);
      const still = await unlessFailed(() => compareAgain(some));
      if (still === undefined) failures.add(comparison);
      else differences.push(...still);
    }
  }
  return { differences, failed: [...failures] };
}

/** Undefined when the activity has failed permanently. */
async function unlessFailed<T>(activity: () => Promise<T>): Promise<T | undefined> {
  try {
    return await activity();
  } catch (error) {
    if (error instanceof ActivityFailure && !isCancellation(error)) return undefined;
    throw error;
  }
}
