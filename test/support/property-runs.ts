import { env } from 'node:process';

/** The number of sequences that a property test tries: at most FC_RUNS, for mutation runs. */
export const propertyRuns = (runs: number): number =>
  Math.min(runs, Number(env.FC_RUNS ?? Number.POSITIVE_INFINITY));
