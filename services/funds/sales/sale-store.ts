import { jsonRows } from '../../platform/database/json-rows.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { InstallmentChange } from '../releases/release-rows.ts';
import { statusOf } from './installment.ts';
import type { NewSale } from './new-sales.ts';
import { SALE_STATUS_SQL, saleStatusOf } from './sale-status.ts';

const INSERT = `
insert into funds.sale
  (merchant_id, environment, id, method, gross_minor, fees_minor, installments, captured_at, order_id, order_number,
   product_id, customer_reference, status)
select :merchantId, :environment, id, method, gross_minor, fees_minor, installments, captured_at, order_id,
       order_number, product_id, customer_reference, status
  from json_to_recordset(:rows::json) as s (
    id uuid, method text, gross_minor bigint, fees_minor bigint, installments int, captured_at timestamptz,
    order_id uuid, order_number text, product_id uuid, customer_reference text, status text)`;

/** Inserts sales with one statement. */
export async function insertSales(tx: TenantTransaction, sales: readonly NewSale[]): Promise<void> {
  await tx.execute(INSERT, { rows: jsonRows(sales.map(saleColumnsOf)) });
}

export function saleColumnsOf({ installments, requestId: _, ...columns }: NewSale) {
  const status = saleStatusOf(installments.map(statusOf));
  return { ...columns, installments: installments.length, status };
}

const UPDATE_STATUSES = `
update funds.sale as sale set status = current.status
  from (select sale_id, ${SALE_STATUS_SQL} as status
          from funds.installment
         where merchant_id = :merchantId and environment = :environment
           and sale_id = any (:ids::uuid[])
         group by sale_id) as current
 where sale.merchant_id = :merchantId and sale.environment = :environment and sale.id = current.sale_id
   and sale.status <> current.status`;

/** Updates the statuses of the sales whose installments have moved between release rows, once these are stored. */
export async function updateSaleStatuses(
  tx: TenantTransaction,
  changes: readonly InstallmentChange[],
): Promise<void> {
  const moved = changes.filter(
    ({ before, after }) => before === null || statusOf(before) !== statusOf(after),
  );
  if (moved.length === 0) return;
  const ids = new Set(moved.map(({ after }) => after.saleId));
  await tx.execute(UPDATE_STATUSES, { ids: [...ids] });
}

const RECORDED_OR_HELD = `
select id from funds.sale
 where merchant_id = :merchantId and environment = :environment and id = any (:ids::uuid[])
union
select sale_id from funds.block
 where merchant_id = :merchantId and environment = :environment and sale_id = any (:ids::uuid[])
   and closed_at is null`;

/** The ids among these whose sale is recorded or has an open block. */
export async function recordedOrHeld(tx: TenantTransaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.execute<{ id: string }>(RECORDED_OR_HELD, { ids });
  return new Set(rows.map(({ id }) => id));
}
