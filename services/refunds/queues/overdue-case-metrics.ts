import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { registerMeasuredGauges, rowOf } from '../../platform/process/measured-gauges.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../../platform/tenant.ts';
import { EXECUTION_DUE_AFTER_MS, type Owner, type QueueRules } from './refund-next-step.ts';

/** The maximum number of cases to count for each part of the statement. */
const COUNT_LIMIT = 10_000;

/** Overdue cases of the provider are counted as silent. */
const COUNTED_OWNERS = ['MERCHANT', 'OPERATIONS', 'SERVICE'] as const satisfies readonly Owner[];

interface OverdueRow {
  readonly environment: EnvironmentName;
  readonly owner: Lowercase<Owner>;
  readonly cases: number;
}

/** Applies the rules of nextRefundStep, but reads only the overdue cases, from their indexes. */
const MEASURE: Statement = {
  name: 'measure_overdue_cases',
  text: `
select environment, lower(owner) as owner, count(*)::int as cases
  from (
    (select environment, 'MERCHANT' as owner
       from refunds.refund_case
      where status = 'MERCHANT_REVIEW' and merchant_review_deadline_at <= now()
      limit ${COUNT_LIMIT})
    union all
    (select environment, case when status = 'FUNDING_REQUIRED' and cardinality(blocked_by) = 1
                              then 'MERCHANT' else 'OPERATIONS' end
       from refunds.refund_case
      where status in ('SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED')
        and status_changed_at <= now() - interval '1 ms' * :workDueAfterMs::float8
        and not (status = 'APPROVED_FOR_EXECUTION' and execution_started_at is not null)
        and not (status = 'APPROVED_FOR_EXECUTION' and blocked_by = '{}' and :automatic::boolean)
        and not (status = 'SERVICE_REVIEW' and exists (
          select from refunds.dispute
           where dispute.merchant_id = refund_case.merchant_id and dispute.environment = refund_case.environment
             and dispute.payment_intent_id = refund_case.payment_intent_id
             and (closed_at is null or closed_at > now() - interval '1 ms' * :workDueAfterMs::float8)))
      limit ${COUNT_LIMIT})
    union all
    (select environment, 'SERVICE'
       from refunds.refund_case
      where status = 'APPROVED_FOR_EXECUTION' and blocked_by = '{}'
        and coalesce(execution_started_at, status_changed_at) <= now() - interval '1 ms' * :executionDueAfterMs::float8
        and (execution_started_at is not null or :automatic::boolean)
      limit ${COUNT_LIMIT})
  ) overdue
 group by environment, owner`,
};

/** Registers a gauge of open cases that are past their due time. All processes on a database report the same values. */
export function registerOverdueCaseMetrics(
  db: CrossTenantDatabase,
  { execution, workDueAfterMs }: QueueRules,
): void {
  const parameters = {
    workDueAfterMs,
    executionDueAfterMs: EXECUTION_DUE_AFTER_MS,
    automatic: execution === 'automatic',
  };
  registerMeasuredGauges({
    measure: () => db.run<OverdueRow>(MEASURE, parameters),
    gauges: [
      {
        name: 'payments_refunds_overdue',
        help: `Open refund cases past their due time, by environment and by who must act next (provider: payments_refunds_provider_silent), counted up to ${COUNT_LIMIT}.`,
        labels: ENVIRONMENTS.flatMap((environment) =>
          COUNTED_OWNERS.map((owner) => ({ environment, owner: owner.toLowerCase() })),
        ),
        read: (rows, labels) => rowOf(rows, labels)?.cases ?? 0,
      },
    ],
  });
}
