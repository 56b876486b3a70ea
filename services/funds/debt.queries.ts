import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { type MerchantFilter, matchingMerchant } from '../platform/reads/merchant-filter.ts';
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

/**
 * An SQL condition: the released amount of the account does not cover its debts, so its available balance is negative.
 * @param debt the alias of a row of funds.deduction.
 */
export const isUncovered = (debt: string): string => `
  (select coalesce(sum(remaining_minor), 0) from funds.release as released
    where released.merchant_id = ${debt}.merchant_id and released.environment = ${debt}.environment
      and released.status = 'RELEASED')
  < (select sum(owed.open_debt_minor) from funds.deduction as owed
      where owed.merchant_id = ${debt}.merchant_id and owed.environment = ${debt}.environment
        and owed.open_debt_minor > 0)`;

/** A page of the open debts of all merchants whose available balance is negative; undefined filters are ignored. */
export const selectDebtQueue = prepareRead<MerchantFilter & PageRange, DebtReadRow>((parameters) => {
  const open = matchingMerchant(
    db.selectFrom('funds.deduction').select(columnsOf(DeductionEntity)),
    parameters,
  )
    .where('open_debt_minor', '>', sql<bigint>`0`)
    .where(sql<boolean>`${sql.raw(isUncovered('funds.deduction'))}`);
  return inOrder(open, debtOrder, parameters).compile();
});
