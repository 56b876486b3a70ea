import { startWorkflow } from '../../contracts/start-workflow.ts';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox-commands.ts';
import { DELIVERY_BY_ID } from '../deliveries/delivery-by-id.sql.ts';
import { END_FAILED_RETRIES, endDeliveries } from '../deliveries/end-deliveries.sql.ts';
import { ATTEMPT_TIMEOUT_MS } from './attempt-limits.ts';
import type { DeliveryChange, PlannedReport, ReportedRow } from './plan-reports.ts';
import { FENCE, RECORD_IN_WORKFLOW, RESULT_COLUMNS, RESULT_DEFINITIONS } from './reports.sql.ts';

/**
 * Locks subscriptions and then deliveries. Returns the deliveries that another transaction has locked, or whose subscription it has.
 * It does not wait for that transaction: its process may be paused, which would delay the results of all others.
 */
export const LOCK_REPORTED: Statement = {
  name: 'lock_reported',
  text: `
with input as materialized (
  select id, subscription_id from webhooks.open_delivery where id = any (:ids::uuid[])
), subscription as materialized (
  select s.id
    from (select distinct subscription_id from input) input
   cross join lateral (
     select s.id from webhooks.subscription s where s.id = input.subscription_id for no key update skip locked
   ) s
), delivery as materialized (
  select d.id from webhooks.open_delivery d
   where d.id = any (:ids::uuid[]) and d.subscription_id in (select id from subscription)
     for update skip locked
)
select id from input where id not in (select id from delivery)`,
};

export const READ_REPORTED: Statement = {
  name: 'read_reported',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id, d.object_id, d.request_id, d.ordered, d.status,
       d.attempt_count, d.next_attempt_at, d.ended_at, d.in_flight_until,
       case when a.number is null then 'UNKNOWN' when a.ended_at is null then 'IN_FLIGHT' else 'ENDED' end as attempt,
       l.epoch, clock_timestamp() as now, s.state, s.generation, s.error, s.error_at, s.holding, s.probe_at, s.paused_at,
       case when d.status = 'PENDING' then
         (select count(*) from webhooks.open_delivery where subscription_id = d.subscription_id and status = 'RETRYING')
       else 0 end::int as retrying,
       case when d.attempt_count > 0 then
         (select count(*) from webhooks.attempt
           where environment = d.environment and delivery_id = d.id and number < input.number
             and failure = 'WORKER_LOST')
       else 0 end::int as lost
  from unnest(:ids::uuid[], :numbers::int[]) as input (id, number)${DELIVERY_BY_ID}
  join webhooks.subscription s
    on s.merchant_id = d.merchant_id and s.environment = d.environment and s.id = d.subscription_id
  join webhooks.lane l on l.id = d.lane
  left join lateral (
    select number, ended_at from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = input.number
       and input.number <= d.attempt_count
     limit 1
  ) a on true`,
};

const START_RETRY = startWorkflow(retryDelivery.workflowType, retryDelivery.workflowId(''), {});
const RETRY_INPUT = `jsonb_build_array(jsonb_build_object(
       'deliveryId', id, 'merchantId', merchant_id, 'environment', environment, 'subscriptionId', subscription_id,
       'requestId', request_id, 'eventType', event_type))`;

const REPORTS = `
report as (
  select * from json_to_recordset(:rows::json) as r (
    environment text, delivery_id uuid, status text, next_attempt_at timestamptz, ended_at timestamptz,
    in_flight_until timestamptz, number int, generation bigint, attempt_started_at timestamptz,
    attempt_deadline_at timestamptz, attempt_ended_at timestamptz, ${RESULT_DEFINITIONS}, rechecks boolean,
    lane smallint, epoch bigint, workflow_id text)
), ${FENCE}, allowed as materialized (
  select r.* from report r
   where r.lane is null or exists (select from fence f where f.id = r.lane and f.epoch = r.epoch)
)`;

const ATTEMPT_COLUMNS = [
  'number',
  'generation',
  'attempt_started_at',
  'attempt_deadline_at',
  'attempt_ended_at',
  ...RESULT_COLUMNS,
];
const ATTEMPT = ATTEMPT_COLUMNS.join(', ');
const REPORTED_ATTEMPT = ATTEMPT_COLUMNS.map((column) => `r.${column}`).join(', ');

const INSERT_ATTEMPTS = `
insert into webhooks.attempt as a
  (merchant_id, environment, delivery_id, number, generation, started_at, deadline_at, ended_at,
   ${RESULT_COLUMNS.join(', ')})`;
/** Two workers may have sent the same attempt: the one that reports the end sets its start. */
const END_KNOWN_ATTEMPT = `
on conflict (delivery_id, number, environment) do update
   set ${['started_at', 'ended_at', ...RESULT_COLUMNS].map((column) => `${column} = excluded.${column}`).join(', ')}
 where a.ended_at is null
returning delivery_id`;

const REPORTED = 'd.id = any (:ids::uuid[]) and d.id = r.delivery_id';

/**
 * Writes open deliveries, which the transaction has locked, and their attempts. Skips, and does not return, those of
 * lanes that another process has taken.
 */
export const RECORD: Statement = {
  name: 'record_attempts',
  text: `
with ${REPORTS}, ${endDeliveries(`using allowed r where r.ended_at is not null and ${REPORTED}`, {
    status: 'r.status',
    attemptCount: 'greatest(d.attempt_count, r.number)',
    endedAt: 'r.ended_at',
    workflowId: 'r.workflow_id',
    returning: `r.workflow_id, ${REPORTED_ATTEMPT}`,
  })}, ${RECORD_IN_WORKFLOW}, moved as (
  update webhooks.open_delivery d
     set status = r.status, attempt_count = greatest(d.attempt_count, r.number), next_attempt_at = r.next_attempt_at,
         in_flight_until = r.in_flight_until, requested = false
    from allowed r
   where r.ended_at is null and ${REPORTED}
  returning d.merchant_id, d.environment, d.id, d.subscription_id, d.event_type, d.request_id, r.rechecks,
            d.status = 'RETRYING' and old.status <> 'RETRYING' as starts, ${REPORTED_ATTEMPT}
), signaled as (
  ${insertCommandsOf(retryDelivery.recheckCommand(''), 'moved where rechecks')}
), started as (
  ${insertCommandsOf(START_RETRY, 'moved where starts', RETRY_INPUT)}
), ${END_FAILED_RETRIES}${INSERT_ATTEMPTS}
select merchant_id, environment, id, ${ATTEMPT} from ended
 union all
select merchant_id, environment, id, ${ATTEMPT} from moved${END_KNOWN_ATTEMPT}`,
};

/** The same for deliveries that had already ended, which a late report does not change. */
export const RECORD_LATE: Statement = {
  name: 'record_late_attempts',
  text: `
with ${REPORTS}, moved as (
  update webhooks.ended_delivery d set attempt_count = greatest(d.attempt_count, r.number)
    from allowed r
   where d.environment = r.environment and d.id = r.delivery_id
  returning d.merchant_id, d.environment, d.id, ${REPORTED_ATTEMPT}
)${INSERT_ATTEMPTS}
select merchant_id, environment, id, ${ATTEMPT} from moved${END_KNOWN_ATTEMPT}`,
};

/** A smaller gain is not worth a signal, since most attempts that hang end just before they count as lost. */
const MIN_RECHECK_GAIN_MS = 2_000;

/** The row of a planned report, for `jsonRows`; empty if nothing is to be written. */
export function recordRow({ report, row, change }: PlannedReport) {
  if (!change) return [];
  const { startedAt, result } = report;
  return [
    {
      ...result,
      ...change,
      environment: row.environment,
      deliveryId: row.id,
      number: report.number,
      generation: report.generation,
      attemptStartedAt: startedAt,
      attemptDeadlineAt: result ? undefined : new Date(startedAt.getTime() + ATTEMPT_TIMEOUT_MS),
      attemptEndedAt: result?.endedAt,
      // Whether its retry workflow waits longer than necessary and has to be signaled.
      rechecks: isDueEarlier(row, change),
      // Anyone may report the end of an attempt that is recorded as in flight, once; only the owner of its lane a new one.
      ...(row.attempt === 'UNKNOWN' && report.owner),
      // The workflow that shows the delivery.
      workflowId: succeedsWithoutRetry(row, change) ? report.workflowId : undefined,
    },
  ];
}

/** Whether it succeeds without a retry workflow, which would show it in Temporal. */
const succeedsWithoutRetry = (row: ReportedRow, { status }: DeliveryChange) =>
  status === 'SUCCEEDED' && (row.status === 'PENDING' || row.status === 'HELD');

/**
 * Whether the attempt after a failed one that was recorded in flight is due well before the retry workflow would
 * check: it waits until the failed attempt counts as lost.
 */
function isDueEarlier(
  { attempt, in_flight_until }: ReportedRow,
  { status, nextAttemptAt, inFlightUntil }: DeliveryChange,
) {
  if (status !== 'RETRYING' || attempt !== 'IN_FLIGHT' || inFlightUntil || !nextAttemptAt || !in_flight_until)
    return false;
  return nextAttemptAt.getTime() < in_flight_until.getTime() - MIN_RECHECK_GAIN_MS;
}
