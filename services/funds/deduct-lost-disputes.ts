import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { deductFrom } from './deduction.ts';
import { DeductionEntity } from './funds.entity.ts';
import type { FundsAccount } from './funds-account.ts';
import { type HeldSale, takenOnReversal } from './holds.ts';

/**
 * After something of a sale was restored, deducts for its lost disputes what that had left them too little of: the customer
 * received it from them.
 * @param before the sale before it was restored.
 */
export async function deductLostDisputes(
  tx: TenantTransaction,
  account: FundsAccount,
  saleId: string,
  before: HeldSale,
): Promise<void> {
  const disputes = await account.holds.lostDisputesOf(saleId);
  if (disputes.length === 0) return;
  for (const taken of takenOnReversal(disputes, before, await account.holds.saleOf(saleId))) {
    const { sourceId, amountMinor } = taken;
    const earlier = await tx.findOne(DeductionEntity, { sourceId });
    // Somebody has deducted it by hand, and decided how much, or has restored it.
    if (earlier && (earlier.saleId !== saleId || earlier.reversedAt)) continue;
    tx.logStep('what had been covered is deducted for a lost dispute', {
      ...taken,
      amountMinor: String(amountMinor),
    });
    await deductFrom(tx, account, { ...taken, saleId }, earlier);
  }
}
