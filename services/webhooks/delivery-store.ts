import type { Delivery } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { failedPrecondition, notFound } from '../platform/errors.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { timestampOf } from '../platform/timestamps.ts';
import { DeliveryEntity, type DeliveryRow } from './delivery.entity.ts';
import { deliveryMessage } from './delivery.message.ts';
import type { WorkflowLink } from './workflow-link.ts';

/** What every RPC answers for a delivery that this merchant does not have in this environment. */
export const deliveryNotFound = () => notFound('DELIVERY_NOT_FOUND', 'there is no such delivery');

/** The delivery as it is now, not locked. NOT_FOUND (DELIVERY_NOT_FOUND). */
export async function readDelivery(tx: TenantTransaction, id: string): Promise<DeliveryRow> {
  const delivery = await tx.findOne(DeliveryEntity, { id }, { refresh: true });
  if (!delivery) throw deliveryNotFound();
  return delivery;
}

/** FAILED_PRECONDITION (DELIVERY_STATE), with the state that the delivery is in. */
export const deliveryState = ({ status }: DeliveryRow) =>
  failedPrecondition('DELIVERY_STATE', `the delivery is ${status}`, { state: status });

/** A delivery as a transaction reads it, as the wire's. */
export function storedDeliveryMessage(row: DeliveryRow, link: WorkflowLink): Delivery {
  const read = {
    merchant_id: row.merchantId,
    environment: row.environment,
    id: row.id,
    subscription_id: row.subscriptionId,
    event_id: row.eventId,
    event_type: row.eventType,
    object_id: row.objectId,
    sequence: row.sequence,
    request_id: row.requestId,
    resend_id: row.resendId ?? null,
    ordered: row.ordered,
    status: row.status,
    attempt_count: row.attemptCount,
    next_attempt_at: timestampOf(row.nextAttemptAt) ?? null,
    ended_at: timestampOf(row.endedAt) ?? null,
    batch_id: row.batchId ?? null,
  };
  return deliveryMessage(read, link);
}
