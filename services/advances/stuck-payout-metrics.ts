import type { CrossTenantDatabase, Statement } from '../platform/database/cross-tenant-database.ts';
import { environmentGauge, registerMeasuredGauges } from '../platform/process/measured-gauges.ts';
import type { EnvironmentName } from '../platform/tenant.ts';
import { STUCK_AFTER_ATTEMPTS, TO_RESOLVE } from './advance-payout.ts';

/** The maximum number of payouts to count. */
const COUNT_LIMIT = 10_000;

interface StuckRow {
  readonly environment: EnvironmentName;
  readonly payouts: number;
  readonly longest_seconds: number;
}

/** Reads only payouts that are stuck or returned, from their index. */
const MEASURE: Statement = {
  name: 'measure_stuck_payouts',
  text: `
select environment, count(*)::int as payouts, extract(epoch from now() - min(payout_submitted_at))::float8 as longest_seconds
  from (select environment, payout_submitted_at
          from advances.request
         where ${TO_RESOLVE}
         order by released_at, id
         limit ${COUNT_LIMIT}) stuck
 group by environment`,
};

/** Registers gauges of payouts that are stuck or returned. All processes on a database report the same values. */
export function registerStuckPayoutMetrics(db: CrossTenantDatabase): void {
  registerMeasuredGauges({
    measure: () => db.run<StuckRow>(MEASURE),
    gauges: [
      environmentGauge(
        'payments_payouts_stuck',
        `Payouts of advances that the provider has not accepted in ${STUCK_AFTER_ATTEMPTS} calls or more, or the bank has returned, by environment, of the first ${COUNT_LIMIT}.`,
        ({ payouts }: StuckRow) => payouts,
      ),
      environmentGauge(
        'payments_payouts_stuck_seconds',
        'How long ago the one of these payouts that waits longest was first submitted; 0 without one.',
        ({ longest_seconds: seconds }: StuckRow) => seconds,
      ),
    ],
  });
}
