import { jsonRows } from '../platform/database/json-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { NewSale } from './new-sales.ts';

const INSERT = `
insert into funds.sale (merchant_id, environment, id, method, gross_minor, fees_minor, installments, captured_at)
select :merchantId, :environment, "id", "method", "grossMinor", "feesMinor", "installments", "capturedAt"
  from json_to_recordset(:rows::json) as s (
    "id" uuid, "method" text, "grossMinor" bigint, "feesMinor" bigint, "installments" int, "capturedAt" timestamptz)`;

/** Inserts sales with one statement. */
export async function insertSales(tx: TenantTransaction, sales: readonly NewSale[]): Promise<void> {
  const rows = sales.map((sale) => ({ ...sale, installments: sale.installments.length }));
  await tx.execute(INSERT, { rows: jsonRows(rows) });
}

const RECORDED_OR_HELD = `
with asked as (select value::uuid as id from json_array_elements_text(:ids::json))
select id from funds.sale
 where merchant_id = :merchantId and environment = :environment and id in (select id from asked)
union
select sale_id from funds.block
 where merchant_id = :merchantId and environment = :environment and sale_id in (select id from asked)
   and closed_at is null`;

/** Those of these sales that are recorded, or that an open block is to hold. */
export async function recordedOrHeld(tx: TenantTransaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.execute<{ id: string }>(RECORDED_OR_HELD, { ids: JSON.stringify(ids) });
  return new Set(rows.map(({ id }) => id));
}
