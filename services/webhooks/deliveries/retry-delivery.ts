import type { HandlerContext } from '@connectrpc/connect';
import type {
  RetryDeliveryRequest,
  RetryDeliveryResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDeliveryWorkflow from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { DeliveryRow } from './delivery.entity.ts';
import { storedDeliveryMessage } from './delivery.message.ts';
import type { DeliveryDependencies } from './delivery-dependencies.ts';
import { deliveryState, readDelivery } from './delivery-store.ts';

/**
 * A HELD delivery becomes PENDING, unless its subscription is paused; a concurrent pause waits for the key share lock, or
 * is visible to it. An attempt in flight is left alone. Times are truncated to milliseconds: rounded up, a delivery that
 * is due now would wait.
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
       requested = d.status = 'RETRYING', changed_xid = pg_current_xact_id()
  from subscription s
 where d.merchant_id = :merchantId and d.environment = :environment and d.id = :id
   and d.status in ('RETRYING', 'HELD') and (d.in_flight_until is null or d.in_flight_until < now())
returning d.status`;

/** Makes the next attempt of an open delivery due now, unless it is queued, blocked or in flight already. */
export function retryDelivery(
  { writes, link }: DeliveryDependencies,
  request: RetryDeliveryRequest,
  context: HandlerContext,
) {
  return writes.run<typeof RetryDeliveryResponseSchema>(request, context, async (tx) => {
    const { id, subscriptionId } = await readDelivery(tx, request.deliveryId);
    const [due] = await tx.execute<Pick<DeliveryRow, 'status'>>(MAKE_DUE, { id, subscriptionId });
    const delivery = await readDelivery(tx, id);
    if (delivery.endedAt) throw deliveryState(delivery);
    if (due) {
      tx.logStep('the next attempt of a delivery was made due', { deliveryId: id, subscriptionId, ...due });
      await signalWorkflow(tx, delivery);
    }
    return { delivery: storedDeliveryMessage(delivery, link) };
  });
}

/**
 * Signals the retry workflow to check again. Starts the workflow of a RETRYING delivery first, which has no effect if it
 * is running: a signal to a missing workflow would be lost, and the delivery would wait until it is overdue.
 */
async function signalWorkflow(
  tx: TenantTransaction,
  { id, status, ...delivery }: DeliveryRow,
): Promise<void> {
  if (status === 'RETRYING') {
    const { subscriptionId, requestId, eventType } = delivery;
    const input = { ...tx.tenant, deliveryId: id, subscriptionId, requestId, eventType };
    await tx.command(retryDeliveryWorkflow.startCommand(input));
  }
  await tx.command(retryDeliveryWorkflow.recheckCommand(id));
}
