import type { CrossTenantDatabase, Statement } from '../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../platform/process/measured-gauges.ts';

/** The maximum number of released requests to look at. */
const READ_LIMIT = 10_000;

/** Reads only payouts that are not accepted, from the index of the provider's queue. */
const MEASURE: Statement = {
  name: 'measure_unrecorded_payouts',
  text: `
select environment, extract(epoch from now() - min(released_at))::float8 as value
  from (select environment, released_at
          from advances.request
         where payout_accepted_at is null and status = 'RELEASED' and payout_submitted_at is null
         order by released_at, id
         limit ${READ_LIMIT}) unrecorded
 group by environment`,
};

/**
 * Registers a gauge of released advances whose payout has neither been submitted nor recorded. All processes on a database
 * report the same values.
 */
export function registerUnrecordedPayoutMetrics(db: CrossTenantDatabase): void {
  registerEnvironmentGauge(
    'payments_payouts_unrecorded_seconds',
    'How long ago the first released advance without any answer about its payout was released, by environment; 0 without one.',
    () => db.run<EnvironmentValue>(MEASURE),
  );
}
