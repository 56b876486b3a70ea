import { Counter, Gauge } from 'prom-client';
import { counterBy, metrics } from '../../platform/process/telemetry.ts';
import { INVARIANTS } from './difference.sql.ts';

/**
 * Counted in the process that verifies an account. One verification may use several processes, so evaluate sums and
 * the latest value over all of them; the alerts are in services/funds/alerts.yaml.
 */
export const verifiedAccounts = new Counter({
  name: 'payments_funds_verified_accounts_total',
  help: 'Accounts whose funds were recomputed.',
  registers: [metrics],
});

export const fundsDifferences = counterBy('invariant', INVARIANTS, {
  name: 'payments_funds_differences_total',
  help: 'Differences found between stored and recomputed funds, by invariant.',
});

const VERIFICATION_FAILURES = ['TIMEOUT', 'ERROR'] as const;
export type VerificationFailure = (typeof VERIFICATION_FAILURES)[number];

export const failedAccounts = counterBy('cause', VERIFICATION_FAILURES, {
  name: 'payments_funds_verification_failures_total',
  help: 'Accounts whose funds could not be recomputed, by cause.',
});

export const verificationEnd = new Gauge({
  name: 'payments_funds_verification_end_timestamp_seconds',
  help: 'When a verification of all accounts last ended in this process.',
  registers: [metrics],
});
