import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { allocateDeduction } from './allocation.ts';
import { DeductionEntity } from './funds.entity.ts';
import type { FundsAccount } from './funds-account.ts';

/** An amount in centavos that is deducted for a source. */
export interface Deduction {
  readonly sourceId: string;
  /** The sale whose installments are used first. */
  readonly saleId: string | undefined;
  readonly amountMinor: bigint;
}

/**
 * Deducts an amount from the sale's installments, then from free ones; what they do not cover becomes a debt. Adds it to an
 * earlier deduction of the source, if there is one. Returns the debt.
 */
export async function deductFrom(
  tx: TenantTransaction,
  account: FundsAccount,
  { sourceId, saleId, amountMinor }: Deduction,
): Promise<bigint> {
  const own = saleId === undefined ? [] : await account.installments.ofSale(saleId);
  const free = await account.installments.free(amountMinor);
  const { allocations, missingMinor } = allocateDeduction(amountMinor, own, free, account.today);
  const earlier = await tx.findOne(DeductionEntity, { sourceId });
  if (earlier) {
    earlier.amountMinor += amountMinor;
    earlier.openDebtMinor += missingMinor;
  } else {
    const openDebtMinor = missingMinor;
    tx.create(DeductionEntity, { sourceId, saleId, amountMinor, openDebtMinor, occurredAt: account.at });
  }
  const deducted = { kind: 'DEDUCTION', sourceId, saleId, debtMinor: missingMinor } as const;
  await account.storeAllocations(deducted, allocations);
  return missingMinor;
}
