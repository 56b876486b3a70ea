import { Counter, Gauge } from 'prom-client';
import { metrics } from '../services/platform/process/telemetry.ts';

/**
 * Failures on the way between services and Temporal, all of which are retried:
 * - CLAIM: the services, or Temporal, did not answer; dispatch pauses and tries again.
 * - HAND_OVER: Temporal did not accept some work; it is claimed again once its lease has expired.
 * - REPORT: the services did not accept reports of attempts; those attempts count as WORKER_LOST and are made again.
 */
const DISPATCH_ERRORS = ['CLAIM', 'HAND_OVER', 'REPORT'] as const;

const errors = new Counter({
  name: 'payments_webhook_dispatch_errors_total',
  help: 'Failures between services and Temporal: CLAIM, HAND_OVER of work to Temporal, REPORT of attempts.',
  labelNames: ['kind'],
  registers: [metrics],
});
// So that the first failure is an increase.
for (const kind of DISPATCH_ERRORS) errors.inc({ kind }, 0);

/** Counts failures of a kind, each of which is retried. */
export function countDispatchErrors(kind: (typeof DISPATCH_ERRORS)[number], count = 1): void {
  errors.inc({ kind }, count);
}

const TEMPORAL_UP = 'payments_temporal_up';

/** Measures at every scrape whether Temporal answers; of several workers in one process, the last one is measured. */
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
