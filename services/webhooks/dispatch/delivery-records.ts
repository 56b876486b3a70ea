import { NIL } from 'uuid';
import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { PeriodicTask } from '../../platform/process/periodic-tasks.ts';

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

/** Leaves out malformed records, which would keep the workflow from ever showing the others. */
const LIST: Statement = {
  name: 'list_delivery_records',
  text: `
select record.value as delivery
  from webhooks.delivery_record r
 cross join lateral jsonb_array_elements(
   case jsonb_typeof(r.deliveries) when 'array' then r.deliveries else '[]' end) as record
 where r.workflow_id = :workflowId order by r.id limit ${recordDeliveries.MAX_RECORDS}`,
};

/** Lists the deliveries that a workflow of records shows. */
export async function listDeliveryRecords(
  db: CrossTenantDatabase,
  workflowId: string,
): Promise<recordDeliveries.DeliveryRecord[]> {
  const rows = await db.run<{ delivery: unknown }>(LIST, { workflowId });
  return rows.map(({ delivery }) => delivery).filter(isRecord);
}

function isRecord(value: unknown): value is recordDeliveries.DeliveryRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { httpStatus, ...texts } = value as Record<string, unknown>;
  return (
    Number.isInteger(httpStatus) &&
    TEXTS.every((name) => typeof texts[name] === 'string' && texts[name].isWellFormed())
  );
}

const TEXTS = ['id', 'merchantId', 'subscriptionId', 'requestId', 'eventType'] as const;

const STEP = 5_000;

/** After a day the workflow has shown them, or its START has been sent again long ago. */
const DELETE_OLD = `
delete from webhooks.delivery_record where id = any (array(
  select id from webhooks.delivery_record
   where id < platform.first_id(now() - interval '1 day') order by id limit ${STEP}))
returning id`;

/** Deletes records of deliveries that their workflow has shown. */
export const oldDeliveryRecords: PeriodicTask = {
  name: 'webhook-delivery-records',
  intervalMs: 60_000,
  async runBatch(em) {
    const deleted = await em.execute<{ id: string }[]>(DELETE_OLD);
    return { rows: deleted.length, more: deleted.length === STEP };
  },
};
