import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import {
  type EnvironmentValue,
  environmentGauge,
  registerEnvironmentGauge,
  registerMeasuredGauges,
} from '../../platform/process/measured-gauges.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';

/** The maximum number of refunds to count in an environment. */
const COUNT_LIMIT = 10_000;

interface SilenceRow {
  readonly environment: EnvironmentName;
  readonly refunds: number;
  readonly longest_seconds: number;
}

/** The silent refunds of an environment, from their index. Not by a lateral join, which Citus refuses to distribute. */
const silentIn = (environment: EnvironmentName) => `
  (select environment, coalesce(provider_reported_at, processing_started_at) as since
     from refunds.refund_case
    where environment = '${environment}' and status = 'PROCESSING'
      and coalesce(provider_reported_at, processing_started_at) < now() - interval '1 ms' * :silentAfterMs::float8
    order by 2
    limit ${COUNT_LIMIT})`;

const MEASURE: Statement = {
  name: 'measure_provider_silence',
  text: `
select environment, count(*)::int as refunds, extract(epoch from now() - min(since))::float8 as longest_seconds
  from (${ENVIRONMENTS.map(silentIn).join('\n  union all')}) silent
 group by environment`,
};

/** Reads one row for each environment, from their index. */
const MEASURE_OLDEST: Statement = {
  name: 'measure_oldest_at_provider',
  text: `
select environment, extract(epoch from now() - processing_started_at)::float8 as value
  from (${ENVIRONMENTS.map(
    (environment) => `
    (select environment, processing_started_at from refunds.refund_case
      where environment = '${environment}' and status = 'PROCESSING'
      order by processing_started_at limit 1)`,
  ).join(' union all')}) oldest`,
};

/**
 * Registers gauges of PROCESSING refunds that the provider has not reported on for PROVIDER_SILENT_AFTER, whether or not
 * it has accepted them, and of the oldest one, whatever the provider reports. All processes on a database report the same
 * values.
 */
export function registerProviderSilenceMetrics(db: CrossTenantDatabase, silentAfterMs: number): void {
  registerMeasuredGauges({
    measure: () => db.run<SilenceRow>(MEASURE, { silentAfterMs }),
    gauges: [
      environmentGauge(
        'payments_refunds_provider_silent',
        `Refunds in PROCESSING without a report of the provider for PROVIDER_SILENT_AFTER, by environment, counted up to ${COUNT_LIMIT}.`,
        ({ refunds }: SilenceRow) => refunds,
      ),
      environmentGauge(
        'payments_refunds_provider_silence_seconds',
        'How long the provider has been silent about the one of these refunds that waits longest; 0 without one.',
        ({ longest_seconds: seconds }: SilenceRow) => seconds,
      ),
    ],
  });
  registerEnvironmentGauge(
    'payments_refunds_oldest_at_provider_seconds',
    'How long ago the oldest refund in PROCESSING was debited, whatever the provider has reported about it, by environment; 0 without one.',
    () => db.run<EnvironmentValue>(MEASURE_OLDEST),
  );
}
