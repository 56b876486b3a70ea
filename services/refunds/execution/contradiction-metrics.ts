import { Counter } from 'prom-client';
import { metrics } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';

/** Counted in the process that refuses the report; the alert is in services/refunds/alerts.yaml. */
export const contradictions = new Counter({
  name: 'payments_refunds_contradicted_total',
  help: 'Reports that a refund has succeeded although it has failed or has not been debited, by environment. All are refused.',
  labelNames: ['environment'],
  registers: [metrics],
});
// Starts every series at 0, so that the first report is an increase.
for (const environment of ENVIRONMENTS) contradictions.inc({ environment }, 0);
