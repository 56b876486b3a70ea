import { DeliveryService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Pages } from '../../shell/pages.ts';
import { resendsTexts } from '../resends/resends.texts.ts';

export function deliveryActions(pages: Pages): void {
  const { retryDelivery, cancelDelivery, resendDeliveries } = DeliveryService.method;
  const spec = { section: 'webhooks', refusals: resendsTexts } as const;
  const path = '/deliveries/:deliveryId';

  pages.action({ ...spec, rpc: retryDelivery, path: `${path}/retry` }, async (view, { params, key }) => {
    const deliveryId = params.deliveryId!;
    await view.clients.deliveries.retryDelivery({ idempotencyKey: key, deliveryId });
    return { redirect: `/deliveries/${deliveryId}`, notice: 'retried' };
  });

  pages.action({ ...spec, rpc: cancelDelivery, path: `${path}/cancel` }, async (view, { params, key }) => {
    const deliveryId = params.deliveryId!;
    await view.clients.deliveries.cancelDelivery({ idempotencyKey: key, deliveryId });
    return { redirect: `/deliveries/${deliveryId}`, notice: 'canceled' };
  });

  pages.action({ ...spec, rpc: resendDeliveries, path: `${path}/resend` }, async (view, { params, key }) => {
    const { delivery } = await view.clients.deliveries.getDelivery({ deliveryId: params.deliveryId! });
    const { eventId, subscriptionId } = delivery!;
    const { resend } = await view.clients.deliveries.resendDeliveries({
      idempotencyKey: key,
      subscriptionId,
      selection: { case: 'eventId', value: eventId },
    });
    return { redirect: `/resends/${resend!.id}`, notice: 'begun' };
  });
}
