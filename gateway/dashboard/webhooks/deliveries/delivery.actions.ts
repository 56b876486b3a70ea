import { DeliveryService } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { resendsTexts } from '../resends/resends.texts.ts';

/** Retries, cancels or resends a delivery. */
export function deliveryActions({ pages, clients }: FeatureDependencies): void {
  const { retryDelivery, cancelDelivery, resendDeliveries } = DeliveryService.method;
  const spec = { section: 'webhooks', refusals: resendsTexts } as const;
  const path = '/deliveries/:deliveryId';

  pages.action({ ...spec, rpc: retryDelivery, path: `${path}/retry` }, async (view, { params, key }) => {
    const deliveryId = params.deliveryId!;
    await clients.deliveries.retryDelivery({ ...view.tenant, idempotencyKey: key, deliveryId }, view.call);
    return { redirect: `/deliveries/${deliveryId}`, notice: 'retried' };
  });

  pages.action({ ...spec, rpc: cancelDelivery, path: `${path}/cancel` }, async (view, { params, key }) => {
    const deliveryId = params.deliveryId!;
    await clients.deliveries.cancelDelivery({ ...view.tenant, idempotencyKey: key, deliveryId }, view.call);
    return { redirect: `/deliveries/${deliveryId}`, notice: 'canceled' };
  });

  pages.action({ ...spec, rpc: resendDeliveries, path: `${path}/resend` }, async (view, { params, key }) => {
    const { tenant, call } = view;
    const { delivery } = await clients.deliveries.getDelivery(
      { ...tenant, deliveryId: params.deliveryId! },
      call,
    );
    const { eventId, subscriptionId } = delivery!;
    const { resend } = await clients.deliveries.resendDeliveries(
      { ...tenant, idempotencyKey: key, subscriptionId, selection: { case: 'eventId', value: eventId } },
      call,
    );
    return { redirect: `/resends/${resend!.id}`, notice: 'begun' };
  });
}
