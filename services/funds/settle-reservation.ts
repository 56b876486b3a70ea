import type { HandlerContext } from '@connectrpc/connect';
import type {
  SettleReservationRequest,
  SettleReservationResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { failedPrecondition } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { findReservation } from './find-reservation.ts';
import { FundsAccount } from './funds-account.ts';
import { settleReserved } from './reservation.ts';

/** Pays a reservation out: what was promised of its parts is advanced. */
export function settleReservation(
  writes: Writes,
  request: SettleReservationRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  return writes.run<typeof SettleReservationResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const reservation = await findReservation(tx, advanceRequestId);
    switch (reservation.state) {
      case 'SETTLED':
        return { advancedAmountMinor: reservation.amountMinor };
      case 'FREED':
        throw failedPrecondition('RESERVATION_FREED', 'the reservation has been freed', {
          state: reservation.state,
        });
      case 'HELD': {
        const result = settleReserved(await account.parts.reservedFor(advanceRequestId), account.today);
        if ('duePart' in result) {
          const { date } = result.duePart;
          throw failedPrecondition('COVERED_PART_DUE', 'the date of a covered part has come', { date });
        }
        reservation.state = 'SETTLED';
        await account.storeTakings('ADVANCE', advanceRequestId, result.takings);
        return { advancedAmountMinor: reservation.amountMinor };
      }
      default:
        return reservation.state satisfies never;
    }
  });
}
