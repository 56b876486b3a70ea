import type { HandlerContext } from '@connectrpc/connect';
import type {
  CancelDeliveryRequest,
  CancelDeliveryResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import { lockSubscriptions, refreshOwners } from '../subscriptions/subscription-store.ts';
import { storedDeliveryMessage } from './delivery.message.ts';
import type { DeliveryStatusName } from './delivery.ts';
import type { DeliveryDependencies } from './delivery-dependencies.ts';
import { deliveryState, readDelivery } from './delivery-store.ts';
import { endDeliveries } from './end-deliveries.sql.ts';
import { unblockNext } from './ordered-deliveries.ts';

const CANCEL_DELIVERY = `
with ${endDeliveries('where d.merchant_id = :merchantId and d.environment = :environment and d.id = :id', {
  status: `'CANCELED'`,
  endedAt: ':at::timestamptz',
})}
select open_status from ended`;

/** Ends an open delivery as CANCELED, and unblocks the next delivery of its object. Idempotent. */
export function cancelDelivery(
  { writes, link }: DeliveryDependencies,
  request: CancelDeliveryRequest,
  context: HandlerContext,
) {
  return writes.run<typeof CancelDeliveryResponseSchema>(request, context, async (tx) => {
    const { id, ordered, subscriptionId, objectId } = await readDelivery(tx, request.deliveryId);
    const object = { subscriptionId, objectId };
    if (ordered) await lockSubscriptions(tx);
    await refreshOwners(tx, 's.id = :subscriptionId', { subscriptionId });
    const at = new Date();
    const [ended] = await tx.execute<{ open_status: DeliveryStatusName }>(CANCEL_DELIVERY, { id, at });
    if (ended && ordered) await unblockNext(tx, object);
    const delivery = await readDelivery(tx, id);
    if (delivery.status !== 'CANCELED') throw deliveryState(delivery);
    if (ended) {
      const { eventId } = delivery;
      tx.logStep('a delivery was canceled', {
        deliveryId: id,
        eventId,
        subscriptionId,
        was: ended.open_status,
      });
    }
    if (ended?.open_status === 'RETRYING' || ended?.open_status === 'HELD')
      await tx.command(retryDelivery.cancelCommand(id));
    return { delivery: storedDeliveryMessage(delivery, link) };
  });
}
