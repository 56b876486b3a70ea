import { Gauge } from 'prom-client';
import { counterBy, metrics } from '../../services/platform/process/telemetry.ts';

/**
 * Failures between the services and Temporal, all of which are retried:
 * - CLAIM: the services, or Temporal, did not answer; the relay pauses and tries again.
 * - HAND_OVER: Temporal did not accept a command; it is claimed again once its lease has expired.
 */
const COMMAND_ERRORS = ['CLAIM', 'HAND_OVER'] as const;

const errors = counterBy('kind', COMMAND_ERRORS, {
  name: 'payments_workflow_command_errors_total',
  help: 'Failures to forward commands to Temporal: to CLAIM them from the services, or to HAND_OVER one.',
});

/** Counts a failure of a kind, which is retried. */
export function countCommandErrors(kind: (typeof COMMAND_ERRORS)[number]): void {
  errors.inc({ kind });
}

const TEMPORAL_UP = 'payments_temporal_up';

/** Measures at every scrape whether Temporal responds. With several workers in one process, measures the last one. */
export function registerTemporalUp(answers: () => Promise<boolean>): void {
  metrics.removeSingleMetric(TEMPORAL_UP);
  new Gauge({
    name: TEMPORAL_UP,
    help: 'Whether Temporal answers this worker: 1 or 0.',
    registers: [metrics],
    async collect() {
      this.set((await answers()) ? 1 : 0);
    },
  });
}
