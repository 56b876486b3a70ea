import { counterBy } from '../platform/process/telemetry.ts';
import { ENVIRONMENTS } from '../platform/tenant.ts';

/** Counted in the process that refuses the answer; the alert is in services/advances/alerts.yaml. */
export const secondPayouts = counterBy('environment', ENVIRONMENTS, {
  name: 'payments_payouts_second_total',
  help: 'Acceptances of another payout of an advance whose payout is accepted, by environment. All are refused.',
});
