import { log } from '@temporalio/activity';
import type { RecordKey } from '../../services/platform/tenant.ts';
import { withFinalRefusals } from '../final-refusal.ts';
import type { AreaDifference, Candidate, ComparisonName } from './area-check.contract.ts';
import { areaCheckEnd, areaDifferences } from './area-check-metrics.ts';
import { type AreaCheckClients, areaComparisons } from './area-comparisons.ts';

/** How long one call compares; it compares at least one record. */
const CALL_BUDGET_MS = 20_000;
/** Bounds the size of one call's answer. */
const CANDIDATES_PER_CALL = 200;

export interface AreaCheckDependencies extends AreaCheckClients {
  /** Whether payouts are submitted by us. */
  readonly paysOut: boolean;
}

/** The first comparison of some records. */
export interface FirstComparison {
  readonly compared: number;
  readonly candidates: readonly Candidate[];
  /** The last record compared, if there may be more. */
  readonly next?: RecordKey;
}

/** The confirmed differences of a check. */
export interface AreaReport {
  readonly differences: readonly AreaDifference[];
  /** Whether every comparison was made. */
  readonly complete: boolean;
}

export type AreaCheckActivities = ReturnType<typeof createAreaCheckActivities>;

/** The activities of the nightly check across areas. */
export function createAreaCheckActivities({ paysOut, ...clients }: AreaCheckDependencies) {
  const comparisons = areaComparisons(clients, { paysOut });
  return withFinalRefusals({
    /** Compares the next records after one. Areas are read one after the other, so a difference may not be real. */
    async compareAreas(comparison: ComparisonName, after?: RecordKey): Promise<FirstComparison> {
      const endBy = performance.now() + CALL_BUDGET_MS;
      const candidates: Candidate[] = [];
      let compared = 0;
      for await (const { key, findings } of comparisons[comparison].compareAll(after)) {
        compared += 1;
        candidates.push(...findings.map(({ rule }) => ({ ...key, comparison, rule })));
        if (candidates.length >= CANDIDATES_PER_CALL || performance.now() > endBy) {
          return { compared, candidates, next: key };
        }
      }
      return { compared, candidates };
    },

    /** Compares the records of candidates again. @returns the candidates that still differ, with what differs now. */
    async compareAgain(candidates: readonly Candidate[]): Promise<AreaDifference[]> {
      const differences: AreaDifference[] = [];
      for (const { comparison, rule, ...key } of candidates) {
        const findings = await comparisons[comparison].compareOne(key);
        const same = findings.find((finding) => finding.rule === rule);
        if (same) differences.push({ ...key, ...same });
      }
      return differences;
    },

    /** Counts and logs the differences. A retry may do so again. */
    async reportAreaDifferences({ differences, complete }: AreaReport): Promise<void> {
      for (const difference of differences) {
        areaDifferences.inc({ rule: difference.rule });
        log.error('areas differ', { difference });
      }
      if (complete) areaCheckEnd.setToCurrentTime();
    },
  });
}
