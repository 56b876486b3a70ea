import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';

/** The maximum number of disputes to count. */
const COUNT_LIMIT = 10_000;

/** Reads only the overdue disputes, from the index of ListDisputeQueue. */
const MEASURE_OUTCOMES: Statement = {
  name: 'measure_overdue_disputes',
  text: `
select environment, count(*)::int as value
  from (select environment
          from refunds.dispute
         where closed_at is null
           and coalesce(due_at, opened_at) <= now() - interval '1 ms' * :outcomeDueAfterMs::float8
         limit ${COUNT_LIMIT}) overdue
 group by environment`,
};

/** Reads all responses that are to be submitted, from their index: they are few. */
const MEASURE_RESPONSES: Statement = {
  name: 'measure_overdue_responses',
  text: `
select environment, count(*)::int as value
  from (select environment
          from refunds.dispute
         where closed_at is null and responded_at is not null and response_submitted_at is null
           and (responded_at <= now() - interval '1 ms' * :workDueAfterMs::float8
                or due_at <= now() + interval '1 day')
         limit ${COUNT_LIMIT}) overdue
 group by environment`,
};

interface DisputeRules {
  readonly outcomeDueAfterMs: number;
  readonly workDueAfterMs: number;
}

/**
 * Registers gauges of open disputes whose outcome is overdue, which keep funds blocked until it is recorded, and of those
 * whose response is overdue at the provider. All processes on a database report the same values.
 */
export function registerOverdueDisputeMetrics(
  db: CrossTenantDatabase,
  { outcomeDueAfterMs, workDueAfterMs }: DisputeRules,
): void {
  registerEnvironmentGauge(
    'payments_disputes_overdue',
    `Open disputes without an outcome for DISPUTE_OUTCOME_DUE_AFTER after their due date or, without one, their opening, by environment, counted up to ${COUNT_LIMIT}.`,
    () => db.run<EnvironmentValue>(MEASURE_OUTCOMES, { outcomeDueAfterMs }),
  );
  registerEnvironmentGauge(
    'payments_dispute_responses_overdue',
    `Open disputes whose response has not been submitted to the provider for REFUND_WORK_DUE_AFTER, or a day before their due date, by environment, counted up to ${COUNT_LIMIT}.`,
    () => db.run<EnvironmentValue>(MEASURE_RESPONSES, { workDueAfterMs }),
  );
}
