import { Histogram } from 'prom-client';
import { metrics } from '../../services/platform/process/telemetry.ts';

/** Deliveries per batch that was handed to Temporal. */
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
