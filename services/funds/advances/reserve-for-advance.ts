import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReserveForAdvanceRequest,
  ReserveForAdvanceResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { sumOf } from '../../platform/amounts.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { ReservationEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { reserveQuoted } from './reservation.ts';

/** Reserves the quoted installments for an advance request, once; repeating it returns the reservation. */
export function reserveForAdvance(
  writes: AccountWrites,
  request: ReserveForAdvanceRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  const quoted = request.installments.map(({ installmentId, version }) => ({
    installmentId: installmentId.toLowerCase(),
    version,
  }));
  return writes.run<typeof ReserveForAdvanceResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const known = await tx.findOne(ReservationEntity, { advanceRequestId });
    if (known?.state === 'FREED') {
      throw failedPrecondition('RESERVATION_FREED', 'the reservation has been freed', { state: known.state });
    }
    if (known) return { reservedAmountMinor: known.amountMinor, lastDate: known.lastDate };
    const installments = await account.installments.byIds(quoted.map(({ installmentId }) => installmentId));
    const reserved = reserveQuoted(quoted, installments, advanceRequestId, account.today);
    await account.store({ installments: reserved });
    const dates = reserved.map(({ after }) => after.date).toSorted();
    const amountMinor = sumOf(reserved, ({ after }) => after.reservation!.amountMinor);
    const { lastDate } = tx.create(ReservationEntity, {
      advanceRequestId,
      state: 'HELD',
      amountMinor,
      firstDate: dates[0]!,
      lastDate: dates.at(-1)!,
    });
    return { reservedAmountMinor: amountMinor, lastDate };
  });
}
