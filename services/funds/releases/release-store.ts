import { jsonRows } from '../../platform/database/json-rows.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { ReleaseEntity, type ReleaseEntityRow } from '../funds.entity.ts';
import { type ReleaseRow, rowKey } from './release-rows.ts';

const UPSERT = `
insert into funds.release
  (merchant_id, environment, date, status, gross_minor, fees_minor, deducted_minor, advanced_minor, sales_count,
   first_parts, held_by_dispute, held_by_refund, held_by_kyc, held_by_compliance)
select :merchantId, :environment, date, status, gross_minor, fees_minor, deducted_minor, advanced_minor,
       sales_count, first_parts, held_by_dispute, held_by_refund, held_by_kyc, held_by_compliance
  from json_to_recordset(:rows::json) as r (
    date date, status text, gross_minor bigint, fees_minor bigint, deducted_minor bigint,
    advanced_minor bigint, sales_count int, first_parts int, held_by_dispute int, held_by_refund int,
    held_by_kyc int, held_by_compliance int)
on conflict (merchant_id, environment, date, status)
do update set gross_minor = excluded.gross_minor, fees_minor = excluded.fees_minor,
              sales_count = excluded.sales_count, first_parts = excluded.first_parts`;

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
    const stored = await this.#tx.find(ReleaseEntity, {
      date: { $in: [...new Set(rows.map(({ date }) => date))] },
    });
    const byKey = new Map(stored.map((row) => [rowKey(row), row]));
    for (const row of rows) {
      const before = byKey.get(rowKey(row));
      if (before === undefined) {
        if (row.salesCount > 0) this.#tx.create(ReleaseEntity, columnsOf(row));
      } else if (row.salesCount === 0) this.#tx.remove(before);
      else Object.assign(before, columnsOf(row));
    }
  }

  /** Writes rows to which new sales have been added, with one statement. */
  async putAdded(rows: readonly ReleaseRow[]): Promise<void> {
    await this.#tx.execute(UPSERT, { rows: jsonRows(rows.map(columnsOf)) });
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
