import type { HandlerContext } from '@connectrpc/connect';
import type {
  RetryDeliveryRequest,
  RetryDeliveryResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDeliveryWorkflow from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import type { DeliveryRow } from './delivery.entity.ts';
import { storedDeliveryMessage } from './delivery.message.ts';
import { deliveryState, readDelivery } from './delivery-store.ts';

/**
 * What is HELD goes to the batches, unless its subscription is paused: pausing waits for the key share lock, or is
 * seen by it. What is under way stays. Times are cut to milliseconds: rounded up, what is due now would wait.
 */
const MAKE_DUE = `
with subscription as materialized (
  select paused_at from webhooks.subscription
   where merchant_id = :merchantId and environment = :environment and id = :subscriptionId
     for key share
)
update webhooks.open_delivery d
   set next_attempt_at = date_trunc('milliseconds', now()),
       status = case when d.status = 'HELD' and s.paused_at is null then 'PENDING' else d.status end,
       batch_id = null
  from subscription s
 where d.merchant_id = :merchantId and d.environment = :environment and d.id = :id
   and d.status in ('RETRYING', 'HELD') and (d.in_flight_until is null or d.in_flight_until < now())
returning d.status`;

/** Makes the next attempt of an open delivery due now; one that waits for its turn or is under way stays as it is. */
export function retryDelivery(
  writes: Writes,
  link: WorkflowLink,
  request: RetryDeliveryRequest,
  context: HandlerContext,
) {
  return writes.run<typeof RetryDeliveryResponseSchema>(request, context, async (tx) => {
    const { id, subscriptionId } = await readDelivery(tx, request.deliveryId);
    const [due] = await tx.execute<Pick<DeliveryRow, 'status'>>(MAKE_DUE, { id, subscriptionId });
    const delivery = await readDelivery(tx, id);
    if (delivery.endedAt) throw deliveryState(delivery);
    if (due) await tellWorkflow(tx, delivery);
    return { delivery: storedDeliveryMessage(delivery, link) };
  });
}

/**
 * Has the retry workflow ask again. Of one that is RETRYING it is started first, which leaves one that runs alone: a
 * signal alone would be lost on a workflow that is missing, and the delivery wait for being overdue.
 */
async function tellWorkflow(tx: TenantTransaction, { id, status, ...delivery }: DeliveryRow): Promise<void> {
  if (status === 'RETRYING') {
    const { subscriptionId, requestId, eventType } = delivery;
    const input = { ...tx.tenant, deliveryId: id, subscriptionId, requestId, eventType };
    await tx.command(retryDeliveryWorkflow.startCommand(input));
  }
  await tx.command(retryDeliveryWorkflow.recheckCommand(id));
}
