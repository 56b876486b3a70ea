import { Counter } from 'prom-client';
import { metrics } from '../platform/process/telemetry.ts';
import { ENVIRONMENTS } from '../platform/tenant.ts';

/** Counted in the process that refuses the answer; the alert is in services/advances/alerts.yaml. */
export const secondPayouts = new Counter({
  name: 'payments_payouts_second_total',
  help: 'Acceptances of another payout of an advance whose payout is accepted, by environment. All are refused.',
  labelNames: ['environment'],
  registers: [metrics],
});
// Starts every series at 0, so that the first one is an increase.
for (const environment of ENVIRONMENTS) secondPayouts.inc({ environment }, 0);
