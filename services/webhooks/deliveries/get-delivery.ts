import type {
  GetDeliveryRequest,
  GetDeliveryResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { WorkflowLink } from '../workflow-link.ts';
import { attemptMessage, deliveryMessage } from './delivery.message.ts';
import { selectAttempts, selectDelivery } from './delivery.queries.ts';
import { deliveryNotFound } from './delivery-store.ts';

/** One delivery with its attempts. */
export async function getDelivery(
  database: Database,
  link: WorkflowLink,
  request: GetDeliveryRequest,
): Promise<GetDeliveryResponse> {
  const key = { ...tenantOf(request), id: request.deliveryId };
  const [[delivery], attempts] = await Promise.all([
    database.read(selectDelivery(key)),
    database.read(selectAttempts(key)),
  ]);
  if (!delivery) throw deliveryNotFound();
  return {
    $typeName: 'payments.webhooks.v1.GetDeliveryResponse',
    delivery: deliveryMessage(delivery, link),
    attempts: attempts.map(attemptMessage),
  };
}
