import { Counter, Gauge } from 'prom-client';
import { metrics } from '../platform/process/telemetry.ts';
import { INVARIANTS } from './funds-checks.ts';

/**
 * Counted where accounts are verified, which may be many processes in one run: sums and the latest of them are what
 * says something. An alarm is `increase(…differences_total[1d]) > 0`, or a last end more than a day ago.
 */
export const verifiedAccounts = new Counter({
  name: 'payments_funds_verified_accounts_total',
  help: 'Accounts whose funds were recomputed.',
  registers: [metrics],
});

export const fundsDifferences = new Counter({
  name: 'payments_funds_differences_total',
  help: 'Differences found between funds as kept and as recomputed, by invariant.',
  labelNames: ['invariant'],
  registers: [metrics],
});
// So that the first one is an increase.
for (const invariant of INVARIANTS) fundsDifferences.inc({ invariant }, 0);

export const verificationEnd = new Gauge({
  name: 'payments_funds_verification_end_timestamp_seconds',
  help: 'When the last verification of all accounts that ended in this process did so.',
  registers: [metrics],
});
