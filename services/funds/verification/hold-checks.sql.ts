import { usedMinorOf } from '../sales/sale-rest.sql.ts';
import { compare, subject } from './difference.sql.ts';

const INSTALLMENT = { date: 'date', status: 'status', sale: 'sale_id', installment: 'installment.id' };

const HOLDABLE = 'advanced_minor = 0 and reserved_for is null';

/** A held installment is neither advanced nor reserved, and has a remaining amount. */
const HELD_INSTALLMENTS = `
select ${subject(INSTALLMENT)}, 'HOLD', 'holdable_minor', '> 0', '0' from installment
 where held_by <> '{}' and not (${HOLDABLE} and remaining_minor > 0)`;

/** What holds an installment is an open block of its sale. */
const HOLDERS = `
select ${subject(INSTALLMENT)}, 'HOLD', 'held_by', 'an open block of the sale', held.id::text
  from installment cross join lateral unnest(held_by) as held (id)
 where not exists (select from block where block.id = held.id and block.sale_id = installment.sale_id
                      and closed_at is null)`;

const USED_MINOR = usedMinorOf('block.sale_id', {
  merchantId: 'block.merchant_id',
  environment: 'block.environment',
  schema: '',
});

const sumWhere = (condition: string) => `coalesce(sum(remaining_minor) filter (where ${condition}), 0)`;

/**
 * An open block holds what it should, or all that its sale has: its amount less the debit of its refund, or, without an
 * amount, what was captured less all refunds and lost disputes, which also limits disputes. It shares nothing while
 * anything of the sale is unheld.
 */
const HELD_AMOUNTS = `
select ${subject({ sale: 'sale_id', source: 'source_id' })}, figure.* from (
  select block.id, block.sale_id, block.source_id, held.*, greatest(0, case
           when block.reason = 'REFUND_IN_PROGRESS' and block.amount_minor is not null
             then block.amount_minor - coalesce((
               select amount_minor from refund_debit
                where refund_case_id = block.source_id and sale_id = block.sale_id and reversed_at is null), 0)
           when block.reason = 'HOLD_OR_DISPUTE' or block.amount_minor is null
             then least(block.amount_minor, sale.gross_minor - ${USED_MINOR})
           else block.amount_minor end) as wanted_minor
    from block join sale on sale.id = block.sale_id
    cross join lateral (
      select ${sumWhere('block.id = any(held_by)')} as held_minor,
             ${sumWhere('held_by = array[block.id]')} as alone_minor,
             ${sumWhere(HOLDABLE)} as holdable_minor,
             ${sumWhere(`${HOLDABLE} and held_by = '{}'`)} as unheld_minor
        from installment where installment.sale_id = block.sale_id
    ) as held
   where block.closed_at is null
) as block
${compare({
  held_minor: [`'HOLD'`, 'least(wanted_minor, holdable_minor)', 'held_minor'],
  held_alone_minor: [
    `'HOLD'`,
    'case when unheld_minor > 0 then wanted_minor else alone_minor end',
    'alone_minor',
  ],
})}`;

/** The checks of what open blocks hold. */
export const HOLD_CHECKS = [HELD_INSTALLMENTS, HOLDERS, HELD_AMOUNTS];
