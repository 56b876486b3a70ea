import { NIL } from 'uuid';
import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import { columnName } from '../../platform/database/column-names.ts';
import type { AttemptResult } from '../deliveries/delivery.ts';

/**
 * A part of a `with` clause: the lanes that are still owned by the process that made the attempts, locked so that no other
 * takes them before the transaction ends. Reads `lane` and `epoch` of the relation `report`, which are null for attempts
 * that anyone may report.
 */
export const FENCE = `
fence as materialized (
  select l.id, l.epoch from webhooks.lane l
   where (l.id, l.epoch) in (select lane, epoch from report where lane is not null)
   order by l.id for share
)`;

/** The properties of an attempt's result that are stored, with the types of their columns. */
const RESULT_TYPES = {
  latencyMs: 'int',
  httpStatus: 'int',
  failure: 'text',
  responseExcerpt: 'text',
  detail: 'text',
  signature: 'text',
  timingMs: 'int[]',
  responseHeaders: 'text',
} satisfies { readonly [property in keyof AttemptResult]?: string };

export const RESULT_COLUMNS = Object.keys(RESULT_TYPES).map(columnName);

/** The result in the column definitions of `json_to_recordset`. */
export const RESULT_DEFINITIONS = Object.entries(RESULT_TYPES)
  .map(([property, type]) => `${columnName(property)} ${type}`)
  .join(', ');

/** A workflow starts when its period is over and its deliveries are recorded. */
const START_AFTER = `interval '${recordDeliveries.PERIOD_MS + 1_000} ms'`;

/**
 * Parts of a `with` clause after `ended`: store what the workflow named by `workflow_id` shows of each delivery, and start
 * the workflows. A START that still waits in the outbox will show these deliveries, too: it is locked, so that the relay
 * claims it only after the commit. Otherwise the workflow may have read its records already, and is started once more.
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
