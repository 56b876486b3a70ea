import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';

/** The maximum number of requests of an environment to look at. */
const READ_LIMIT = 10_000;

/**
 * The oldest requests of an environment to review or release, from the index of their queue. Not by a lateral join with values,
 * which Citus refuses to distribute.
 */
const waitingIn = (environment: EnvironmentName) => `
  (select environment, coalesce(reviewed_at, requested_at) as since
     from advances.request
    where environment = '${environment}' and status in ('PENDING_REVIEW', 'APPROVED')
    order by requested_at, id
    limit ${READ_LIMIT})`;

const MEASURE: Statement = {
  name: 'measure_waiting_advance_requests',
  text: `
select environment, extract(epoch from now() - min(since))::float8 as value
  from (${ENVIRONMENTS.map(waitingIn).join('\n  union all')}) waiting
 group by environment`,
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
