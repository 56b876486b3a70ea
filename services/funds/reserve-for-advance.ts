import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReserveForAdvanceRequest,
  ReserveForAdvanceResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { failedPrecondition } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { ReservationEntity } from './funds.entity.ts';
import { FundsAccount } from './funds-account.ts';
import { reserveQuoted } from './reservation.ts';

/** Reserves the quoted parts for an advance request, once; a repetition answers what was reserved. */
export function reserveForAdvance(
  writes: Writes,
  request: ReserveForAdvanceRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const advanceRequestId = request.advanceRequestId.toLowerCase();
  const quoted = request.parts.map(({ partId, version }) => ({ partId: partId.toLowerCase(), version }));
  return writes.run<typeof ReserveForAdvanceResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const known = await tx.findOne(ReservationEntity, { advanceRequestId });
    if (known?.state === 'FREED') {
      throw failedPrecondition('RESERVATION_FREED', 'the reservation has been freed', { state: known.state });
    }
    if (known) return { reservedAmountMinor: known.amountMinor, lastDate: known.lastDate };
    const before = await account.parts.named(quoted.map(({ partId }) => partId));
    const result = reserveQuoted(quoted, before, advanceRequestId, account.today);
    if ('stalePartId' in result) {
      throw failedPrecondition('QUOTE_STALE', 'a covered part has changed since the quote', {
        partId: result.stalePartId,
      });
    }
    const byId = new Map(before.map((part) => [part.id, part]));
    await account.store(result.parts.map((after) => ({ before: byId.get(after.id)!, after })));
    const dates = result.parts.map((part) => part.date).toSorted();
    const reservedAmountMinor = result.parts.reduce((sum, part) => sum + part.reservation!.amountMinor, 0n);
    const [firstDate, lastDate] = [dates[0]!, dates.at(-1)!];
    const figures = { amountMinor: reservedAmountMinor, firstDate, lastDate };
    tx.create(ReservationEntity, { advanceRequestId, state: 'HELD', ...figures });
    return { reservedAmountMinor, lastDate };
  });
}
