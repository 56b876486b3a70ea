import { Counter } from 'prom-client';
import { metrics } from '../services/platform/process/telemetry.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../services/platform/tenant.ts';

const PROVIDERS = ['refund', 'payout'] as const;
const RESULTS = ['accepted', 'refused', 'error'] as const;

export type ProviderName = (typeof PROVIDERS)[number];

const submissions = new Counter({
  name: 'payments_provider_submissions_total',
  help: 'Calls to payment providers by result: accepted, refused, or error, which includes timeouts.',
  labelNames: ['provider', 'environment', 'result'],
  registers: [metrics],
});
// Starts every series at 0, so that the first call is an increase.
for (const provider of PROVIDERS) {
  for (const environment of ENVIRONMENTS) {
    for (const result of RESULTS) submissions.inc({ provider, environment, result }, 0);
  }
}

/** Counts one call to a provider. */
export function countSubmission(labels: {
  readonly provider: ProviderName;
  readonly environment: EnvironmentName;
  readonly result: (typeof RESULTS)[number];
}): void {
  submissions.inc(labels);
}
