import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReverseRefundDebitRequest,
  ReverseRefundDebitResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { notFound } from '../platform/errors.ts';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { giveBack } from './allocation.ts';
import { PostingEntity, RefundDebitEntity } from './funds.entity.ts';
import { FundsAccount } from './funds-account.ts';

/** Gives a refund's debit back to the parts it was taken from, once. */
export function reverseRefundDebit(
  writes: Writes,
  request: ReverseRefundDebitRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const refundCaseId = request.refundCaseId.toLowerCase();
  return writes.run<typeof ReverseRefundDebitResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const debit = await tx.findOne(RefundDebitEntity, { refundCaseId });
    if (debit === null) throw notFound('REFUND_DEBIT_NOT_FOUND', 'there is no such debit');
    if (debit.reversedAt) return {};
    const taken = await tx.find(PostingEntity, { sourceId: refundCaseId, kind: 'REFUND_DEBIT' });
    const parts = await account.parts.named(taken.map(({ partId }) => partId));
    debit.reversedAt = occurredAt;
    const takings = giveBack(taken, parts, account.today);
    await account.storeTakings('REFUND_REVERSAL', refundCaseId, takings);
    return {};
  });
}
