import { Gauge } from 'prom-client';
import { counterBy, metrics } from '../../services/platform/process/telemetry.ts';
import { AREA_RULES } from './area-check.contract.ts';

/** Counted in the worker that reports them; the alerts are in services/funds/alerts.yaml. */
export const areaDifferences = counterBy('rule', AREA_RULES, {
  name: 'payments_area_differences_total',
  help: 'Differences between areas that the nightly check has seen twice, by rule.',
});

export const areaCheckEnd = new Gauge({
  name: 'payments_area_check_end_timestamp_seconds',
  help: 'When a check over all areas was last reported by this process.',
  registers: [metrics],
});
