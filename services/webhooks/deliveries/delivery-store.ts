import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, notFound } from '../../platform/errors.ts';
import { DeliveryEntity, type DeliveryRow } from './delivery.entity.ts';

/** NOT_FOUND (DELIVERY_NOT_FOUND): the merchant has no such delivery in this environment. */
export const deliveryNotFound = () => notFound('DELIVERY_NOT_FOUND', 'the delivery does not exist');

/** The delivery as it is now, not locked. NOT_FOUND (DELIVERY_NOT_FOUND). */
export async function readDelivery(tx: TenantTransaction, id: string): Promise<DeliveryRow> {
  const delivery = await tx.findOne(DeliveryEntity, { id }, { refresh: true });
  if (!delivery) throw deliveryNotFound();
  return delivery;
}

/** FAILED_PRECONDITION (DELIVERY_STATE), with the delivery's status. */
export const deliveryState = ({ status }: DeliveryRow) =>
  failedPrecondition('DELIVERY_STATE', `the delivery is ${status}`, { state: status });
