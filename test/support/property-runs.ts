import { env } from 'node:process';

/**
 * How many sequences a property test tries: `slow` of them in the slow project, and at most as many as FC_RUNS says, for
 * runs of mutants.
 */
export const propertyRuns = (runs: number, slow: number = runs): number =>
  Math.min(env.SLOW_PROPERTIES ? slow : runs, Number(env.FC_RUNS ?? Number.POSITIVE_INFINITY));
