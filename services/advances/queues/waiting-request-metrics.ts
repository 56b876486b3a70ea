import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';

/** The maximum number of requests to look at. */
const READ_LIMIT = 10_000;

/** Reads the oldest requests to review or pay out, from the index of their queue. */
const MEASURE: Statement = {
  name: 'measure_waiting_advance_requests',
  text: `
select environment, extract(epoch from now() - min(coalesce(reviewed_at, requested_at)))::float8 as value
  from (select environment, requested_at, reviewed_at
          from advances.request
         where status in ('PENDING_REVIEW', 'APPROVED')
         order by requested_at, id
         limit ${READ_LIMIT}) waiting
 group by environment`,
};

/**
 * Registers a gauge of advance requests that wait to be reviewed or paid out. All processes on a database report the same
 * values.
 */
export function registerWaitingRequestMetrics(db: CrossTenantDatabase): void {
  registerEnvironmentGauge(
    'payments_advance_requests_waiting_seconds',
    'How long the advance request that has waited longest has waited for its review or, once approved, its release, by environment; 0 without one.',
    () => db.run<EnvironmentValue>(MEASURE),
  );
}
