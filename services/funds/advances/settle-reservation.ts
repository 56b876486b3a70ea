import type { HandlerContext } from '@connectrpc/connect';
import type {
  SettleReservationRequest,
  SettleReservationResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { failedPrecondition, notFound } from '../../platform/errors.ts';
import { occurredElsewhereAt } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { ReservationEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { allocationChange } from '../funds-change.ts';
import { settleReserved } from './reservation.ts';

/** Pays out a reservation: the promised amounts of its installments are advanced. */
export function settleReservation(
  writes: AccountWrites,
  request: SettleReservationRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredElsewhereAt(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  return writes.run<typeof SettleReservationResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const reservation = await tx.findOne(ReservationEntity, { advanceRequestId });
    if (reservation === null) throw notFound('RESERVATION_NOT_FOUND', 'the reservation does not exist');
    switch (reservation.state) {
      case 'SETTLED':
        return { advancedAmountMinor: reservation.amountMinor };
      case 'FREED':
        throw failedPrecondition('RESERVATION_FREED', 'the reservation has been freed', {
          state: reservation.state,
        });
      case 'HELD': {
        const installments = await account.installments.reservedFor(advanceRequestId);
        const allocations = settleReserved(installments, account.today);
        reservation.state = 'SETTLED';
        const advance = { kind: 'ADVANCE', sourceId: advanceRequestId } as const;
        await account.store(allocationChange(advance, allocations, account.at));
        return { advancedAmountMinor: reservation.amountMinor };
      }
      default:
        return reservation.state satisfies never;
    }
  });
}
