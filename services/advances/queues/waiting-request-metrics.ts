import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';

/** The maximum number of requests of an environment to look at. */
const READ_LIMIT = 10_000;

/** Reads the oldest requests to review or release, from the index of their queue. */
const MEASURE: Statement = {
  name: 'measure_waiting_advance_requests',
  text: `
select environments.environment, extract(epoch from now() - min(coalesce(reviewed_at, requested_at)))::float8 as value
  from (values ('live'), ('test')) as environments (environment),
       lateral (select requested_at, reviewed_at
                  from advances.request
                 where status in ('PENDING_REVIEW', 'APPROVED') and request.environment = environments.environment
                 order by requested_at, id
                 limit ${READ_LIMIT}) waiting
 group by environments.environment`,
};

/**
 * Registers a gauge of advance requests that wait to be reviewed or released. All processes on a database report the same
 * values.
 */
export function registerWaitingRequestMetrics(db: CrossTenantDatabase): void {
  registerEnvironmentGauge(
    'payments_advance_requests_waiting_seconds',
    'How long the advance request that has waited longest has waited for its review or, once approved, its release, by environment; 0 without one.',
    () => db.run<EnvironmentValue>(MEASURE),
  );
}
