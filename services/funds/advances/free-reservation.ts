import type { HandlerContext } from '@connectrpc/connect';
import type {
  FreeReservationRequest,
  FreeReservationResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { failedPrecondition } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { ReservationEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { free } from '../sales/installment.ts';

/**
 * Frees a reservation. Its installments go first to open blocks of their sales that lack an amount, then to open
 * debts. Freeing a reservation that does not exist yet records it as freed, so that a delayed ReserveForAdvance is
 * refused.
 */
export function freeReservation(
  writes: AccountWrites,
  request: FreeReservationRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  return writes.run<typeof FreeReservationResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const reservation = await tx.findOne(ReservationEntity, { advanceRequestId });
    if (reservation === null) {
      tx.create(ReservationEntity, {
        advanceRequestId,
        state: 'FREED',
        amountMinor: 0n,
        firstDate: account.today,
        lastDate: account.today,
      });
      return {};
    }
    switch (reservation.state) {
      case 'FREED':
        return {};
      case 'SETTLED':
        throw failedPrecondition('RESERVATION_SETTLED', 'the reservation has been paid out', {
          state: reservation.state,
        });
      case 'HELD': {
        const installments = await account.installments.reservedFor(advanceRequestId);
        reservation.state = 'FREED';
        const freed = installments.map((before) => ({ before, after: free(before) }));
        await account.store({ installments: freed });
        return {};
      }
      default:
        return reservation.state satisfies never;
    }
  });
}
