import { ACCOUNT_TIME_ZONE } from '../platform/civil-date.ts';
import type { CrossTenantDatabase, Statement } from '../platform/database/cross-tenant-database.ts';
import { registerEnvironmentGauge } from '../platform/process/measured-gauges.ts';
import type { EnvironmentName } from '../platform/tenant.ts';

/** The maximum number of days of accounts to look at. */
const READ_LIMIT = 10_000;

interface LateRow {
  readonly environment: EnvironmentName;
  readonly seconds: number;
}

/** Reads only what is due, from the index of the daily release. Reserved installments wait for their advance. */
const MEASURE: Statement = {
  name: 'measure_late_releases',
  text: `
select environment, extract(epoch from now() - min(date)::timestamp at time zone '${ACCOUNT_TIME_ZONE}')::float8 as seconds
  from (select environment, date
          from funds.release as due
         where status = 'SCHEDULED' and date <= (now() at time zone '${ACCOUNT_TIME_ZONE}')::date
           and exists (select from funds.installment as installment
                        where installment.merchant_id = due.merchant_id and installment.environment = due.environment
                          and installment.date = due.date and installment.status = 'SCHEDULED'
                          and installment.reserved_for is null)
         order by date
         limit ${READ_LIMIT}) late
 group by environment`,
};

/** Registers a gauge of funds that are due and not released. All processes on a database report the same values. */
export function registerLateReleaseMetrics(db: CrossTenantDatabase): void {
  registerEnvironmentGauge(
    'payments_funds_release_late_seconds',
    'How long ago the earliest day began whose funds are due and not released, by environment; 0 if all are released.',
    () => db.run<LateRow>(MEASURE),
    ({ seconds }) => seconds,
  );
}
