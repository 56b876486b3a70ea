import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { alongMerchant, type MerchantFilter } from '../../platform/reads/merchant-filter.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { DeductionEntity } from '../funds.entity.ts';

/** A deduction with an open debt; amounts in centavos. */
export type DebtReadRow = ReadTable<typeof DeductionEntity>;

const db = queryBuilder<{ 'funds.deduction': DebtReadRow }>();

/** Debts are listed in the order in which they are collected: oldest first. */
export const debtOrder: ListOrder<DebtReadRow> = { columns: ['occurred_at', 'source_id'], direction: 'asc' };

export const selectDebts = prepareRead<Tenant & PageRange, DebtReadRow>((parameters) => {
  const ofMerchant = alongMerchant(
    db.selectFrom('funds.deduction').select(columnsOf(DeductionEntity)),
    parameters,
  );
  const open = ofMerchant.where('open_debt_minor', '>', sql<bigint>`0`);
  return inOrder(open, debtOrder, parameters).compile();
});

/**
 * A lateral subquery: the available balance of the account of `debt`, a row of funds.deduction, as available_minor.
 * PostgreSQL computes the aggregate once for all debts of an account. If a merchant's sales are released at once, its
 * debts are never collected, although the released amount covers them.
 */
export const AVAILABLE_TO_DEBT = `lateral (
  select coalesce(sum(released.remaining_minor), 0) - (
         select sum(owed.open_debt_minor) from funds.deduction as owed
          where owed.merchant_id = debt.merchant_id and owed.environment = debt.environment
            and owed.open_debt_minor > 0) as available_minor
    from funds.release as released
   where released.merchant_id = debt.merchant_id and released.environment = debt.environment
     and released.status = 'RELEASED')`;

/** A page of the open debts of all merchants whose available balance is negative; undefined filters are ignored. */
export const selectDebtQueue = prepareRead<MerchantFilter & PageRange, DebtReadRow>((parameters) => {
  const account = sql<object>`${sql.raw(AVAILABLE_TO_DEBT)}`.as('account');
  const open = alongMerchant(
    db
      .selectFrom('funds.deduction as debt')
      .innerJoin(account, (join) => join.onTrue())
      .select(columnsOf(DeductionEntity)),
    parameters,
    'debt',
  )
    .where('open_debt_minor', '>', sql<bigint>`0`)
    .where(sql<boolean>`account.available_minor < 0`);
  return inOrder(open, debtOrder, parameters, 'debt').compile();
});
