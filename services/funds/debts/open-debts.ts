import { least, sumOf } from '../../platform/amounts.ts';
import type { CivilDate } from '../../platform/civil-date.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { allocateDebts, type DebtAllocation } from '../allocation.ts';
import { DebtPaymentEntity, DeductionEntity, type DeductionRow } from '../funds.entity.ts';
import type { InstallmentStore } from '../sales/installment-store.ts';

/**
 * The open debts of an account, read and written under its lock: what deductions could not take from installments. The oldest
 * is paid and collected first.
 */
export class OpenDebts {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** Their sum in centavos. */
  async totalMinor(): Promise<bigint> {
    return totalMinor(await this.#rows());
  }

  /** Pays an amount of them, which must not exceed their sum. */
  async pay(paymentId: string, amountMinor: bigint, recordedAt: Date): Promise<void> {
    let remainingMinor = amountMinor;
    for (const debt of await this.#rows()) {
      const paidMinor = least(remainingMinor, debt.openDebtMinor);
      if (paidMinor === 0n) break;
      const { sourceId } = debt;
      this.#tx.create(DebtPaymentEntity, { paymentId, sourceId, amountMinor: paidMinor, recordedAt });
      debt.openDebtMinor -= paidMinor;
      remainingMinor -= paidMinor;
    }
    await this.#tx.flush();
  }

  /** Collects as much of them as free installments cover; the caller stores the changes of the installments. */
  async collect(installments: Pick<InstallmentStore, 'free'>, today: CivilDate): Promise<DebtAllocation[]> {
    const rows = await this.#rows();
    if (rows.length === 0) return [];
    const debts = rows.map(({ sourceId, openDebtMinor }) => ({ sourceId, openMinor: openDebtMinor }));
    const collected = allocateDebts(debts, await installments.free(totalMinor(rows)), today);
    rows.forEach((row, index) => {
      row.openDebtMinor = collected.debts[index]!.openMinor;
    });
    return collected.allocations;
  }

  #rows(): Promise<DeductionRow[]> {
    const orderBy = { occurredAt: 'asc', sourceId: 'asc' } as const;
    return this.#tx.find(DeductionEntity, { openDebtMinor: { $gt: 0n } }, { orderBy });
  }
}

const totalMinor = (debts: readonly DeductionRow[]) => sumOf(debts, ({ openDebtMinor }) => openDebtMinor);
