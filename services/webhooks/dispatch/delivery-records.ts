import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ListDeliveryRecordsRequest,
  ListDeliveryRecordsResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { statementTask } from '../../platform/process/statement-task.ts';

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
  { workflowId }: ListDeliveryRecordsRequest,
): Promise<MessageInitShape<typeof ListDeliveryRecordsResponseSchema>> {
  const rows = await db.run<{ delivery: unknown }>(LIST, { workflowId });
  const records = rows.map(({ delivery }) => delivery).filter(isRecord);
  return { deliveries: records.map(({ id: deliveryId, ...record }) => ({ deliveryId, ...record })) };
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

const BATCH_ROWS = 5_000;

/** After a day the workflow has shown them, or its START has been sent again long ago. */
const DELETE_OLD = `
with deleted as (
  delete from webhooks.delivery_record where id = any (array(
    select id from webhooks.delivery_record
     where id < platform.first_id(now() - interval '1 day') order by id limit ${BATCH_ROWS}))
  returning id
)
select count(*)::int as rows from deleted`;

/** Deletes records of deliveries that their workflow has shown. */
export const oldDeliveryRecords = statementTask({
  name: 'webhook-delivery-records',
  intervalMs: 60_000,
  sql: DELETE_OLD,
  batchRows: BATCH_ROWS,
});
