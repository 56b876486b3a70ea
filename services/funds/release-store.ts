import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { ReleaseEntity, type ReleaseEntityRow } from './funds.entity.ts';
import { type ReleaseRow, rowKey } from './release-rows.ts';

/** The release rows of an account, read and written under its lock. */
export class ReleaseStore {
  readonly #tx: TenantTransaction;

  constructor(tx: TenantTransaction) {
    this.#tx = tx;
  }

  /** The rows of the given dates, ascending. */
  async onDates(dates: readonly string[]): Promise<ReleaseRow[]> {
    const rows = await this.#tx.find(
      ReleaseEntity,
      { date: { $in: [...new Set(dates)] } },
      { orderBy: { date: 'asc', status: 'asc' } },
    );
    return rows.map(rowOf);
  }

  /** Writes rows; a row without sales is deleted. */
  async put(rows: readonly ReleaseRow[]): Promise<void> {
    const kept = await this.#tx.find(ReleaseEntity, {
      date: { $in: [...new Set(rows.map(({ date }) => date))] },
    });
    const byKey = new Map(kept.map((row) => [rowKey(row), row]));
    for (const row of rows) {
      const before = byKey.get(rowKey(row));
      if (before === undefined) {
        if (row.salesCount > 0) this.#tx.create(ReleaseEntity, columnsOf(row));
      } else if (row.salesCount === 0) this.#tx.remove(before);
      else Object.assign(before, columnsOf(row));
    }
  }
}

function rowOf(row: ReleaseEntityRow): ReleaseRow {
  const { date, status, grossMinor, feesMinor, deductedMinor, advancedMinor, salesCount, firstParts } = row;
  const held = {
    HOLD_OR_DISPUTE: row.heldByDispute,
    REFUND_IN_PROGRESS: row.heldByRefund,
    KYC_PENDING: row.heldByKyc,
    COMPLIANCE_HOLD: row.heldByCompliance,
  };
  const sums = { grossMinor, feesMinor, deductedMinor, advancedMinor };
  return { date, status, ...sums, salesCount, firstParts, held };
}

function columnsOf({ held, ...sums }: ReleaseRow) {
  return {
    ...sums,
    heldByDispute: held.HOLD_OR_DISPUTE,
    heldByRefund: held.REFUND_IN_PROGRESS,
    heldByKyc: held.KYC_PENDING,
    heldByCompliance: held.COMPLIANCE_HOLD,
  };
}
