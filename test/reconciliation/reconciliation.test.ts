import { randomInt } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { TEMPORAL_START_MS } from '../support/temporal.ts';
import { runReconciliation } from './reconciliation-run.ts';
import { faultsOf, tableOf } from './reconciliation-table.ts';

const FAULTS_MS = 30_000;
/** Usually two minutes from the loss of Temporal's state, near the beginning; far more on a busy machine. */
const RUN_MS = 12 * 60_000;

it(
  'every accepted event is delivered and accounted for, whatever is killed, paused or disconnected',
  async () => {
    const seed = Number(process.env.RECONCILE_SEED ?? randomInt(2 ** 31));
    const played: string[] = [];
    const result = await runReconciliation({
      seed,
      durationMs: FAULTS_MS,
      eventsPerSecond: 30,
      say: (line) => played.push(line),
      bundles: inject('workflowBundleFolder'),
    });
    console.info(`seed ${seed}\n${tableOf(result)}`);
    expect(faultsOf(result), `RECONCILE_SEED=${seed}\n${played.join('\n')}`).toEqual([]);
    expect(result.expected).toBeGreaterThan(500);
  },
  RUN_MS + TEMPORAL_START_MS,
);
