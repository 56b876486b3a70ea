import type { HandlerContext } from '@connectrpc/connect';
import type {
  FreeReservationRequest,
  FreeReservationResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { failedPrecondition } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { ReservationEntity } from './funds.entity.ts';
import { FundsAccount } from './funds-account.ts';
import { free } from './installment.ts';

/**
 * Frees a reservation: open blocks hold its parts from now on, and open debts take from them. One that has not come to
 * be never will: a ReserveForAdvance that was delayed is refused.
 */
export function freeReservation(writes: Writes, request: FreeReservationRequest, context: HandlerContext) {
  const occurredAt = occurredAtOf(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  return writes.run<typeof FreeReservationResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const reservation = await tx.findOne(ReservationEntity, { advanceRequestId });
    if (reservation === null) {
      const nothing = { amountMinor: 0n, firstDate: account.today, lastDate: account.today };
      tx.create(ReservationEntity, { advanceRequestId, state: 'FREED', ...nothing });
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
        const parts = await account.parts.reservedFor(advanceRequestId);
        reservation.state = 'FREED';
        await account.store(parts.map((before) => ({ before, after: free(before) })));
        return {};
      }
      default:
        return reservation.state satisfies never;
    }
  });
}
