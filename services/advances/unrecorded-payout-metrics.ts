import type { CrossTenantDatabase, Statement } from '../platform/database/cross-tenant-database.ts';
import { environmentGauge, registerMeasuredGauges } from '../platform/process/measured-gauges.ts';
import type { EnvironmentName } from '../platform/tenant.ts';

/** The maximum number of released requests to look at. */
const READ_LIMIT = 10_000;
const CACHE_MS = 1_000;

interface UnrecordedRow {
  readonly environment: EnvironmentName;
  readonly seconds: number;
}

/** Reads only payouts that are not accepted, from the index of the provider's queue. */
const MEASURE: Statement = {
  name: 'measure_unrecorded_payouts',
  text: `
select environment, extract(epoch from now() - min(released_at))::float8 as seconds
  from (select environment, released_at
          from advances.request
         where payout_accepted_at is null and status = 'RELEASED' and payout_submitted_at is null
         order by released_at, id
         limit ${READ_LIMIT}) unrecorded
 group by environment`,
};

/**
 * Registers a gauge of payouts that nobody has submitted, or recorded where they are made elsewhere. All processes on a
 * database report the same values.
 */
export function registerUnrecordedPayoutMetrics(db: CrossTenantDatabase): void {
  registerMeasuredGauges({
    measure: () => db.run<UnrecordedRow>(MEASURE),
    cacheMs: CACHE_MS,
    gauges: [
      environmentGauge(
        'payments_payouts_unrecorded_seconds',
        'How long ago the first released advance without any answer about its payout was released, by environment; 0 without one.',
        ({ seconds }: UnrecordedRow) => seconds,
      ),
    ],
  });
}
