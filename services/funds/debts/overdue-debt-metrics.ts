import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { type EnvironmentValue, registerEnvironmentGauge } from '../../platform/process/measured-gauges.ts';
import { AVAILABLE_TO_DEBT } from './debt.queries.ts';

const COUNT_LIMIT = 10_000;

/** Reads only debts that are past their due time, from the index of the queue. */
const MEASURE: Statement = {
  name: 'measure_overdue_debts',
  text: `
select environment, count(*)::int as value
  from (select environment
          from funds.deduction as debt cross join ${AVAILABLE_TO_DEBT} as account
         where open_debt_minor > 0 and occurred_at <= now() - interval '1 ms' * :dueAfterMs::float8
           and account.available_minor < 0
         limit ${COUNT_LIMIT}) overdue
 group by environment`,
};

/** Registers a gauge of debts past their due time. All processes on a database report the same values. */
export function registerOverdueDebtMetrics(db: CrossTenantDatabase, dueAfterMs: number): void {
  registerEnvironmentGauge(
    'payments_debts_overdue',
    `Debts that the merchant's available balance has not covered for DEBT_DUE_AFTER, by environment, counted up to ${COUNT_LIMIT}.`,
    () => db.run<EnvironmentValue>(MEASURE, { dueAfterMs }),
  );
}
