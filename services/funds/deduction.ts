import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { allocateDeduction } from './allocation.ts';
import { DeductionEntity } from './funds.entity.ts';
import type { FundsAccount } from './funds-account.ts';

/** An amount in centavos that is deducted for a source, which has no other deduction. */
export interface Deduction {
  readonly sourceId: string;
  /** The sale whose installments are used first. */
  readonly saleId: string | undefined;
  readonly amountMinor: bigint;
}

/**
 * Deducts an amount from the sale's installments, then from free ones; what they do not cover becomes a debt. Returns
 * the debt.
 */
export async function deductFrom(
  tx: TenantTransaction,
  account: FundsAccount,
  { sourceId, saleId, amountMinor }: Deduction,
): Promise<bigint> {
  const own = saleId === undefined ? [] : await account.installments.ofSale(saleId);
  const free = await account.installments.free(amountMinor);
  const { allocations, missingMinor } = allocateDeduction(amountMinor, own, free, account.today);
  tx.create(DeductionEntity, {
    sourceId,
    saleId,
    amountMinor,
    openDebtMinor: missingMinor,
    occurredAt: account.at,
  });
  const deducted = { kind: 'DEDUCTION', sourceId, saleId, debtMinor: missingMinor } as const;
  await account.storeAllocations(deducted, allocations);
  return missingMinor;
}
