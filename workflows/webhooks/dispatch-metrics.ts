import { Counter, Gauge, Histogram } from 'prom-client';
import { metrics } from '../../services/platform/process/telemetry.ts';

/**
 * What goes wrong on the way between services and Temporal, all of it repeated:
 * - CLAIM: the services, or Temporal, did not answer; dispatch pauses and tries again.
 * - HAND_OVER: Temporal did not take some work; it is handed out again once its lease has ended.
 * - REPORT: the services did not take reports of attempts; those attempts count as WORKER_LOST and are made again.
 */
const DISPATCH_ERRORS = ['CLAIM', 'HAND_OVER', 'REPORT'] as const;

const errors = new Counter({
  name: 'payments_webhook_dispatch_errors_total',
  help: 'Failures between services and Temporal: CLAIM, HAND_OVER of work to Temporal, REPORT of attempts.',
  labelNames: ['kind'],
  registers: [metrics],
});
// So that the first one is an increase.
for (const kind of DISPATCH_ERRORS) errors.inc({ kind }, 0);

/** Counts failures of a kind, each of which is repeated. */
export function countDispatchErrors(kind: (typeof DISPATCH_ERRORS)[number], count = 1): void {
  errors.inc({ kind }, count);
}

/** Deliveries per batch that Temporal was given. */
export const batchSize = new Histogram({
  name: 'payments_webhook_batch_size',
  help: 'Deliveries in a batch, of batches handed to Temporal.',
  buckets: [1, 2, 5, 10, 20, 40, 60, 80, 100],
  registers: [metrics],
});

/** In seconds, up to the attempt's deadline. */
export const attemptDuration = new Histogram({
  name: 'payments_webhook_attempt_duration_seconds',
  help: 'Time from the begin of an attempt to the end of its answer, by environment.',
  labelNames: ['environment'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
  registers: [metrics],
});

const TEMPORAL_UP = 'payments_temporal_up';

/** Measures at every scrape whether Temporal answers; of workers in one process, the last one tells. */
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
