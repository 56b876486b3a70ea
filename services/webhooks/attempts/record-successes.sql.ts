import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import { isSuccess, type ReportedAttempt } from '../deliveries/delivery.ts';
import { endDeliveries } from '../deliveries/end-deliveries.sql.ts';
import type { OrderedObjectRow } from '../deliveries/ordered-deliveries.ts';
import { FENCE, RECORD_IN_WORKFLOW, RESULT_COLUMNS, RESULT_DEFINITIONS } from './reports.sql.ts';

/** Longer than most writes of a merchant take. */
export const LOCK_TIMEOUT_MS = 100;

/** The columns of the only attempt that ended_delivery keeps: a success has neither a failure nor its detail. */
const ATTEMPT_COLUMNS = [
  'started_at',
  'generation',
  ...RESULT_COLUMNS.filter((column) => column !== 'failure' && column !== 'detail'),
];

/**
 * Ends deliveries whose success has no further consequences: their subscription is ACTIVE, has the generation of the
 * attempt, and holds nothing back. Skips all others; returns those it ended. The commit does not wait for the disk,
 * so after a crash of PostgreSQL some are sent again. Waits only briefly for other transactions, whose process may be
 * paused, and then fails.
 */
export const RECORD_SUCCESSES: Statement = {
  name: 'record_successes',
  text: `
with limited as materialized (
  select set_config('lock_timeout', '${LOCK_TIMEOUT_MS}ms', true)
), report as (
  select r.* from limited cross join json_to_recordset(:rows::json) as r (
    lane smallint, epoch bigint, workflow_id text, delivery_id uuid, generation bigint,
    started_at timestamptz, ended_at timestamptz, ${RESULT_DEFINITIONS})
), ${FENCE}, endable as materialized (
  select r.*
    from report r
    join fence f on f.id = r.lane and f.epoch = r.epoch
   cross join lateral (
     select merchant_id, environment, subscription_id from webhooks.open_delivery where id = r.delivery_id limit 1
   ) d
   cross join lateral (
     select from webhooks.subscription
      where merchant_id = d.merchant_id and environment = d.environment and id = d.subscription_id
        and state = 'ACTIVE' and generation = r.generation and not holding
      limit 1
   ) s
), ${endDeliveries(
    'using endable r where d.id = any (:ids::uuid[]) and d.id = r.delivery_id and d.attempt_count = 0',
    {
      status: `'SUCCEEDED'`,
      attemptCount: '1',
      endedAt: 'r.ended_at',
      workflowId: 'r.workflow_id',
      returning: `r.workflow_id, ${ATTEMPT_COLUMNS.map((column) => `r.${column}`).join(', ')}`,
      stored: ATTEMPT_COLUMNS.join(', '),
    },
  )}, ${RECORD_IN_WORKFLOW}
select id, merchant_id, environment, subscription_id, object_id, ordered, set_config('synchronous_commit', 'off', true)
  from ended`,
};

/** A delivery that RECORD_SUCCESSES has ended. */
export interface SucceededRow extends OrderedObjectRow {
  readonly id: string;
  readonly ordered: boolean;
}

/** The row of a success at the first attempt, for `jsonRows`; empty for any other report. */
export function successRow(report: ReportedAttempt) {
  const { deliveryId, number, generation, owner, workflowId, startedAt, result } = report;
  if (number !== 1 || !owner || workflowId === undefined || !result || !isSuccess(result)) return [];
  return [{ ...owner, workflowId, deliveryId, generation, startedAt, ...result }];
}
