import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { unblockDisputed } from '../execution/refund-execution.ts';
import { unclaimedMinor } from '../payments/payment-amounts.ts';
import { type PaymentRow, RefundCaseEntity, type RefundCaseRow } from '../refund-case.entity.ts';
import { paymentUseOf, storeChange } from '../refund-case-store.ts';

/**
 * Clears PAYMENT_DISPUTED, oldest case first, from the cases that the rest of the payment covers after disputes and
 * other refunds. Call it whenever a dispute closes, or a refund ends without having paid the customer. The payment is
 * locked.
 */
export async function unblockCovered(
  tx: TenantTransaction,
  { id: paymentIntentId, paidAmountMinor }: Pick<PaymentRow, 'id' | 'paidAmountMinor'>,
  at: Date,
): Promise<RefundCaseRow[]> {
  if (paidAmountMinor === null) return [];
  let remainingMinor = unclaimedMinor(paidAmountMinor, await paymentUseOf(tx, paymentIntentId));
  if (remainingMinor <= 0n) return [];
  const blocked = await tx.lock(
    RefundCaseEntity,
    { paymentIntentId, blockedBy: { $contains: ['PAYMENT_DISPUTED'] } },
    { orderBy: { requestedAt: 'asc', id: 'asc' } },
  );
  const unblocked: RefundCaseRow[] = [];
  for (const row of blocked) {
    if (row.amountMinor > remainingMinor) continue;
    remainingMinor -= row.amountMinor;
    await storeChange(tx, row, unblockDisputed(row, at));
    unblocked.push(row);
  }
  return unblocked;
}
