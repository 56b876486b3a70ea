import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReverseRefundDebitRequest,
  ReverseRefundDebitResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { notFound } from '../../platform/errors.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { reverse } from '../allocation.ts';
import { deductLostDisputes } from '../deductions/deduct-lost-disputes.ts';
import { PostingEntity, RefundDebitEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { allocationChange } from '../funds-change.ts';

/**
 * Restores a refund's debit, once, to the installments it was deducted from. Then deducts the amounts of the sale's
 * lost disputes that the refund had covered: the customer has received them through the disputes instead.
 */
export function reverseRefundDebit(
  writes: AccountWrites,
  request: ReverseRefundDebitRequest,
  context: HandlerContext,
) {
  const occurredAt = occurredAtOf(request, context);
  const refundCaseId = request.refundCaseId.toLowerCase();
  return writes.run<typeof ReverseRefundDebitResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, occurredAt);
    const debit = await tx.findOne(RefundDebitEntity, { refundCaseId });
    if (debit === null) throw notFound('REFUND_DEBIT_NOT_FOUND', 'the refund has not been debited');
    if (debit.reversedAt) return {};
    const postings = await tx.find(PostingEntity, { sourceId: refundCaseId, kind: 'REFUND_DEBIT' });
    const ids = postings.map(({ installmentId }) => installmentId);
    const allocations = reverse(postings, await account.installments.byIds(ids), account.today);
    const saleId = debit.saleId ?? undefined;
    const before = saleId && (await account.holds.saleOf(saleId));
    debit.reversedAt = occurredAt;
    tx.logStep("a refund's debit was reversed", { refundCaseId, amountMinor: String(debit.amountMinor) });
    const reversal = { kind: 'REFUND_REVERSAL', sourceId: refundCaseId, saleId } as const;
    await account.store(allocationChange(reversal, allocations, account.at));
    if (saleId && before) await deductLostDisputes(tx, account, saleId, before);
    return {};
  });
}
