import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { registerMeasuredGauges } from '../../platform/process/measured-gauges.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';

/** The maximum number of disputes to count. */
const COUNT_LIMIT = 10_000;
const CACHE_MS = 1_000;

interface OverdueRow {
  readonly environment: EnvironmentName;
  readonly disputes: number;
}

/** Reads only the overdue disputes, from the index of ListDisputeQueue. */
const MEASURE: Statement = {
  name: 'measure_overdue_disputes',
  text: `
select environment, count(*)::int as disputes
  from (select environment
          from refunds.dispute
         where closed_at is null
           and coalesce(due_at, opened_at) <= now() - interval '1 ms' * :outcomeDueAfterMs::float8
         limit ${COUNT_LIMIT}) overdue
 group by environment`,
};

/**
 * Registers a gauge of open disputes whose outcome is overdue: they keep funds blocked until it is recorded. All
 * processes on a database report the same values.
 */
export function registerOverdueDisputeMetrics(db: CrossTenantDatabase, outcomeDueAfterMs: number): void {
  registerMeasuredGauges({
    measure: () => db.run<OverdueRow>(MEASURE, { outcomeDueAfterMs }),
    cacheMs: CACHE_MS,
    gauges: [
      {
        name: 'payments_disputes_overdue',
        help: `Open disputes without an outcome for DISPUTE_OUTCOME_DUE_AFTER after their due date or, without one, their opening, by environment, counted up to ${COUNT_LIMIT}.`,
        labels: ENVIRONMENTS.map((environment) => ({ environment })),
        read: (rows, labels) => rows.find((row) => row.environment === labels.environment)?.disputes ?? 0,
      },
    ],
  });
}
