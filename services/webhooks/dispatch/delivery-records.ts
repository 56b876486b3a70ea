import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ListDeliveryRecordsRequest,
  ListDeliveryRecordsResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as recordDeliveries from '../../contracts/webhooks/record-deliveries.contract.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import { statementTask } from '../../platform/process/statement-task.ts';

const LIST: Statement = {
  name: 'list_delivery_records',
  text: `
select delivery
  from webhooks.delivery_record r cross join lateral jsonb_array_elements(r.deliveries) as delivery
 where r.workflow_id = :workflowId order by r.id limit ${recordDeliveries.MAX_RECORDS}`,
};

/** Lists the deliveries that a workflow of records shows. */
export async function listDeliveryRecords(
  db: CrossTenantDatabase,
  { workflowId }: ListDeliveryRecordsRequest,
): Promise<MessageInitShape<typeof ListDeliveryRecordsResponseSchema>> {
  const rows = await db.run<{ delivery: recordDeliveries.DeliveryRecord }>(LIST, { workflowId });
  return {
    deliveries: rows.map(({ delivery: { id: deliveryId, ...record } }) => ({ deliveryId, ...record })),
  };
}

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
