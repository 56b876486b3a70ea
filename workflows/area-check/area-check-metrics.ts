import { Counter, Gauge } from 'prom-client';
import { metrics } from '../../services/platform/process/telemetry.ts';
import { AREA_RULES } from './area-check.contract.ts';

/** Counted in the worker that reports them; the alerts are in services/funds/alerts.yaml. */
export const areaDifferences = new Counter({
  name: 'payments_area_differences_total',
  help: 'Differences between areas that the nightly check has seen twice, by rule.',
  labelNames: ['rule'],
  registers: [metrics],
});
// Starts every series at 0, so that the first difference is an increase.
for (const rule of AREA_RULES) areaDifferences.inc({ rule }, 0);

export const areaCheckEnd = new Gauge({
  name: 'payments_area_check_end_timestamp_seconds',
  help: 'When a check over all areas was last reported by this process.',
  registers: [metrics],
});
