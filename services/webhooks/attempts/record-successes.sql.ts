import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import { isSuccess, type ReportedAttempt } from '../deliveries/delivery.ts';
import { endDeliveries } from '../deliveries/end-deliveries.ts';
import { RECORD_IN_WORKFLOW } from '../dispatch/delivery-records.ts';
import type { OrderedObjectRow } from './unblock-deliveries.ts';

/** A success at the first attempt, as the statement below takes it. */
interface SuccessRow {
  readonly lane: number;
  readonly epoch: string;
  readonly workflow_id: string;
  readonly delivery_id: string;
  readonly generation: string;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly latency_ms: number | null;
  readonly http_status: number | null;
  readonly response_excerpt: string | null;
  readonly signature: string | null;
  readonly timing_ms: readonly (number | null)[] | null;
  readonly response_headers: string | null;
}

/** A delivery that the statement below has ended. */
export interface SucceededRow extends OrderedObjectRow {
  readonly id: string;
  readonly ordered: boolean;
}

/**
 * Lanes still owned by the process that made the attempts; no other can take them until the transaction ends.
 * @param reports a relation with `lane` and `epoch`; null for attempts that anyone may report.
 */
export const fence = (reports: string) => `
fence as materialized (
  select l.id, l.epoch from webhooks.lane l
   where (l.id, l.epoch) in (select lane, epoch from ${reports} where lane is not null)
   order by l.id for share
)`;

/** The columns of the only attempt that ended_delivery keeps. */
const ATTEMPT_COLUMNS = [
  'started_at',
  'generation',
  'latency_ms',
  'http_status',
  'response_excerpt',
  'signature',
  'timing_ms',
  'response_headers',
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
    started_at timestamptz, ended_at timestamptz, latency_ms int, http_status int, response_excerpt text,
    signature text, timing_ms int[], response_headers text)
), ${fence('report')}, sound as materialized (
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
    'using sound r where d.id = any (:ids::uuid[]) and d.id = r.delivery_id and d.attempt_count = 0',
    {
      status: `'SUCCEEDED'`,
      attemptCount: '1',
      endedAt: 'r.ended_at',
      workflowId: 'r.workflow_id',
      returning: `r.workflow_id, ${ATTEMPT_COLUMNS.map((column) => `r.${column}`).join(', ')}`,
      logged: ATTEMPT_COLUMNS.join(', '),
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
}: ReportedAttempt): SuccessRow[] {
  if (number !== 1 || !owner || workflowId === undefined) return [];
  if (!('result' in outcome) || !isSuccess(outcome.result)) return [];
  const { endedAt, latencyMs, httpStatus, responseExcerpt, signature, timingMs, responseHeaders } =
    outcome.result;
  return [
    {
      lane: owner.lane,
      epoch: String(owner.epoch),
      workflow_id: workflowId,
      delivery_id: deliveryId,
      generation: String(generation),
      started_at: startedAt,
      ended_at: endedAt,
      latency_ms: latencyMs ?? null,
      http_status: httpStatus ?? null,
      response_excerpt: responseExcerpt ?? null,
      signature: signature ?? null,
      timing_ms: timingMs ?? null,
      response_headers: responseHeaders ?? null,
    },
  ];
}
