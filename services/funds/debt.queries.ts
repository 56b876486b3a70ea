import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../platform/reads/read-table.ts';
import type { Tenant } from '../platform/tenant.ts';
import { DeductionEntity } from './funds.entity.ts';

/** A deduction with an open debt; amounts in centavos. */
export type DebtReadRow = ReadTable<typeof DeductionEntity>;

const db = queryBuilder<{ 'funds.deduction': DebtReadRow }>();

/** Debts are listed in the order in which they are collected: oldest first. */
export const debtOrder: ListOrder<DebtReadRow> = { columns: ['occurred_at', 'source_id'], direction: 'asc' };

/** A page of open debts in their order. */
export const selectDebts = prepareRead<Tenant & PageRange, DebtReadRow>((parameters) => {
  const open = db
    .selectFrom('funds.deduction')
    .select(columnsOf(DeductionEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('open_debt_minor', '>', sql<bigint>`0`);
  return inOrder(open, debtOrder, parameters).compile();
});
