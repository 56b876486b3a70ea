import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { ReservationEntity } from './funds.entity.ts';

/** The reservation of an advance request. NOT_FOUND (RESERVATION_NOT_FOUND). */
export async function findReservation(tx: TenantTransaction, advanceRequestId: string) {
  const reservation = await tx.findOne(ReservationEntity, { advanceRequestId });
  if (reservation === null) throw notFound('RESERVATION_NOT_FOUND', 'the reservation does not exist');
  return reservation;
}
