import { counterBy } from '../../platform/process/telemetry.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';

/** Counted in the process that refuses the report; the alert is in services/refunds/alerts.yaml. */
export const contradictions = counterBy('environment', ENVIRONMENTS, {
  name: 'payments_refunds_contradicted_total',
  help: 'Reports that a refund has succeeded although it has failed or has not been debited, by environment. All are refused.',
});
