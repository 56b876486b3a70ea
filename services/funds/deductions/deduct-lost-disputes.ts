import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { DeductionEntity } from '../funds.entity.ts';
import type { FundsAccount } from '../funds-account.ts';
import { deductionsOnReversal, type UsedSale } from '../sales/sale-rest.ts';
import { deductFrom } from './deduction.ts';

/**
 * Completes the deductions for a sale's lost disputes after some of its funds were restored: the sale had too little
 * left for them, and the customer has received that money through the disputes.
 * @param before the sale before the restoration.
 */
export async function deductLostDisputes(
  tx: TenantTransaction,
  account: FundsAccount,
  saleId: string,
  before: UsedSale,
): Promise<void> {
  const disputes = await account.holds.lostDisputesOf(saleId);
  if (disputes.length === 0) return;
  for (const deduction of deductionsOnReversal(disputes, before, await account.holds.saleOf(saleId))) {
    const { sourceId, amountMinor } = deduction;
    const earlier = await tx.findOne(DeductionEntity, { sourceId });
    // Another team has deducted an amount of its choice, or the deduction has been reversed.
    if (earlier && (earlier.saleId !== saleId || earlier.reversedAt)) continue;
    tx.logStep('more is deducted for a lost dispute', {
      ...deduction,
      amountMinor: String(amountMinor),
    });
    await deductFrom(tx, account, { ...deduction, saleId }, earlier);
  }
}
