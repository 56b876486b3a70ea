import { env } from 'node:process';

/** How many sequences a property test tries: fewer when a run of mutants says so. */
export const propertyRuns = (runs: number): number => Math.min(runs, Number(env.FC_RUNS ?? runs));
