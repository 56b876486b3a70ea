import { ACCOUNT_TIME_ZONE } from '../../platform/civil-date.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';
import { IS_RELEASABLE } from '../cross-tenant.queries.ts';

/** The maximum number of days of accounts to look at. */
const READ_LIMIT = 10_000;

/** Reads only what is due, from the index of the daily release. */
const MEASURE: Statement = {
  name: 'measure_late_releases',
  text: `
select environment, extract(epoch from now() - min(date)::timestamp at time zone '${ACCOUNT_TIME_ZONE}')::float8 as value
  from (select environment, date
          from funds.release as release
         where release.date <= (now() at time zone '${ACCOUNT_TIME_ZONE}')::date and ${IS_RELEASABLE}
         order by date
         limit ${READ_LIMIT}) late
 group by environment`,
};

/** Registers a gauge of funds that are due and not released. All processes on a database report the same values. */
export function registerLateReleaseMetrics(db: CrossTenantDatabase): void {
  registerEnvironmentGauge(
    'payments_funds_release_late_seconds',
    'How long ago the earliest day began whose funds are due and not released, by environment; 0 if all are released.',
    () => db.run<EnvironmentValue>(MEASURE),
  );
}
