import { NIL } from 'uuid';
import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { type AttemptResult, isSuccess, type ReportedAttempt } from './delivery.ts';
import type { OrderedObjectRow } from './ordered-deliveries.ts';

const COPIED_COLUMNS = [
  'merchant_id',
  'environment',
  'id',
  'subscription_id',
  'event_id',
  'event_type',
  'object_id',
  'sequence',
  'request_id',
  'resend_id',
  'ordered',
];

/** The final columns of a delivery, as SQL over `d`, the open delivery, and the rows joined to it. */
export interface DeliveryEnd {
  readonly status: string;
  /** A timestamptz. */
  readonly endedAt: string;
  /** Absent: unchanged. */
  readonly attemptCount?: string;
  /** The workflow that shows a delivery without a retry workflow. Default: none. */
  readonly workflowId?: string;
  /** Further columns of the result. */
  readonly returning?: string;
  /** The further columns that ended_delivery also has. */
  readonly stored?: string;
}

/**
 * Parts of a `with` clause that move deliveries from open_delivery to ended_delivery: the only way that deliveries end.
 * The first part is named `ended`, and returns the delivery, its previous `open_status`, `end_status`, `end_count` and
 * `end_at`.
 * @param which the rest of `delete from webhooks.open_delivery d`: `[using …] where …`.
 */
export function endDeliveries(which: string, end: DeliveryEnd): string {
  const { status, endedAt, attemptCount = 'd.attempt_count', workflowId = 'null', returning, stored } = end;
  const more = stored ? `, ${stored}` : '';
  const copied = COPIED_COLUMNS.map((column) => `d.${column}`).join(', ');
  return `
ended as (
  delete from webhooks.open_delivery d ${which}
  returning ${copied}, d.status as open_status, ${status} as end_status, ${attemptCount} as end_count,
            ${endedAt} as end_at,
            case d.status when 'RETRYING' then '${retryDelivery.workflowId('')}' || d.id else ${workflowId} end
              as end_workflow${returning ? `, ${returning}` : ''}
), stored as (
  insert into webhooks.ended_delivery (${COPIED_COLUMNS.join(', ')}, status, attempt_count, ended_at, workflow_id${more})
  select ${COPIED_COLUMNS.join(', ')}, end_status, end_count, end_at, end_workflow${more} from ended
)`;
}

/**
 * A part of a `with` clause after `ended`: the workflow of an exhausted delivery fails, and must not be started again.
 */
export const END_FAILED_RETRIES = `failed as (
  delete from platform.outbox_command c using ended
   where ended.end_status = 'EXHAUSTED' and c.kind = 'START' and c.workflow_id = '${retryDelivery.workflowId('')}' || ended.id
)`;

/**
 * How long to wait before a workflow of records is started: until its period is over and its deliveries are recorded.
 */
const START_AFTER = `interval '${recordDeliveries.PERIOD_MS + 1_000} ms'`;

/**
 * Parts of a `with` clause that record the deliveries in `ended` for their `workflow_id`, and start the workflows. A
 * START that the relay has not claimed yet covers them too, and is locked until the commit. A workflow that may have
 * read its records already is started once more.
 */
export const RECORD_IN_WORKFLOW = `recorded as (
  insert into webhooks.delivery_record (workflow_id, deliveries)
  select workflow_id, jsonb_agg(jsonb_build_object(
           'id', id, 'merchantId', merchant_id, 'subscriptionId', subscription_id, 'requestId', request_id,
           'eventType', event_type, 'httpStatus', http_status))
    from ended where workflow_id is not null group by workflow_id
), shown as (
  insert into platform.outbox_command
    (merchant_id, environment, id, kind, workflow_id, workflow_type, arguments, request_id, due_at)
  select '${NIL}', environment, uuidv7(), 'START', workflow_id, '${recordDeliveries.workflowType}',
         jsonb_build_array(jsonb_build_object('workflowId', workflow_id, 'environment', environment)), '',
         now() + ${START_AFTER}
    from (select distinct workflow_id, environment from ended where workflow_id is not null) started
   where not exists (
     select from platform.outbox_command c
      where c.workflow_id = started.workflow_id and c.kind = 'START' and c.starts = 0 and c.due_at <= now() + ${START_AFTER}
        for key share)
)`;

/** A workflow's id names the second in which it begins. */
const MIN_MS = 1_000;

interface RecordWorkflow {
  readonly id: string;
  readonly sinceMs: number;
  deliveries: number;
}

/**
 * Names the workflows that show what this process has delivered. A workflow costs as much as several deliveries, so
 * each shows those of five seconds, or fewer if more could not be found by search or would not fit into one result.
 */
export class RecordWorkflows {
  readonly #ownerId: string;
  readonly #current = new Map<EnvironmentName, RecordWorkflow>();

  constructor(ownerId: string) {
    this.#ownerId = ownerId;
  }

  /** The id of the workflow that shows a delivery which has just succeeded. */
  idFor(environment: EnvironmentName): string {
    const nowMs = performance.now();
    let workflow = this.#current.get(environment);
    if (!workflow || isComplete(workflow, nowMs)) {
      const id = recordDeliveries.workflowId(new Date(), environment, this.#ownerId);
      workflow = { id, sinceMs: nowMs, deliveries: 0 };
      this.#current.set(environment, workflow);
    }
    workflow.deliveries += 1;
    return workflow.id;
  }
}

function isComplete({ sinceMs, deliveries }: RecordWorkflow, nowMs: number): boolean {
  const ageMs = nowMs - sinceMs;
  if (ageMs < MIN_MS) return false;
  const { PERIOD_MS, MAX_SEARCHABLE, MAX_RECORDS } = recordDeliveries;
  return ageMs >= PERIOD_MS || deliveries === MAX_SEARCHABLE || deliveries >= MAX_RECORDS / 2;
}

/** The columns of an attempt's result, with their types. */
const RESULT_TYPES = {
  latency_ms: 'int',
  http_status: 'int',
  failure: 'text',
  response_excerpt: 'text',
  detail: 'text',
  signature: 'text',
  timing_ms: 'int[]',
  response_headers: 'text',
};

export const RESULT_COLUMNS = Object.keys(RESULT_TYPES);

/** The result in the column definitions of `json_to_recordset`. */
export const RESULT_DEFINITIONS = Object.entries(RESULT_TYPES)
  .map((column) => column.join(' '))
  .join(', ');

/** The values of the result's columns; null while the attempt is in flight. */
export const resultRow = (result: AttemptResult | undefined): Record<keyof typeof RESULT_TYPES, unknown> => ({
  latency_ms: result?.latencyMs ?? null,
  http_status: result?.httpStatus ?? null,
  failure: result?.failure ?? null,
  response_excerpt: result?.responseExcerpt ?? null,
  detail: result?.detail ?? null,
  signature: result?.signature ?? null,
  timing_ms: result?.timingMs ?? null,
  response_headers: result?.responseHeaders ?? null,
});

/** A delivery that the statement below has ended. */
export interface SucceededRow extends OrderedObjectRow {
  readonly id: string;
  readonly ordered: boolean;
}

/**
 * Lanes still owned by the process that made the attempts; no other can take them until the transaction ends. The
 * relation `report` has their `lane` and `epoch`; null for attempts that anyone may report.
 */
export const FENCE = `
fence as materialized (
  select l.id, l.epoch from webhooks.lane l
   where (l.id, l.epoch) in (select lane, epoch from report where lane is not null)
   order by l.id for share
)`;

/** The columns of the only attempt that ended_delivery keeps: a success has neither a failure nor its detail. */
const ATTEMPT_COLUMNS = [
  'started_at',
  'generation',
  ...RESULT_COLUMNS.filter((column) => column !== 'failure' && column !== 'detail'),
];

/**
 * Ends deliveries whose success has no further consequences: their subscription is ACTIVE, has the generation of the
 * attempt, and holds nothing back. Skips all others; returns those it ended. The commit does not wait for the disk,
 * so after a crash of PostgreSQL some are sent again.
 */
export const RECORD_SUCCESSES: Statement = {
  name: 'record_successes',
  text: `
with report as (
  select * from json_to_recordset(:rows::json) as r (
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

/** The row of a success at the first attempt; empty for any other report. */
export function successRow({
  deliveryId,
  number,
  generation,
  owner,
  workflowId,
  startedAt,
  outcome,
}: ReportedAttempt) {
  if (number !== 1 || !owner || workflowId === undefined) return [];
  if (!('result' in outcome) || !isSuccess(outcome.result)) return [];
  return [
    {
      lane: owner.lane,
      epoch: String(owner.epoch),
      workflow_id: workflowId,
      delivery_id: deliveryId,
      generation: String(generation),
      started_at: startedAt,
      ended_at: outcome.result.endedAt,
      ...resultRow(outcome.result),
    },
  ];
}
