import { env } from 'node:process';

/**
 * The number of sequences that a property test tries: `slow` in the slow project, and at most FC_RUNS, for mutation
 * runs.
 */
export const propertyRuns = (runs: number, slow: number = runs): number =>
  Math.min(env.SLOW_PROPERTIES ? slow : runs, Number(env.FC_RUNS ?? Number.POSITIVE_INFINITY));
