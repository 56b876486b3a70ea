import { SALE_STATUS_SQL } from '../sales/sale-status.ts';
import { compare, subject } from './difference.sql.ts';

const INSTALLMENT = { date: 'date', status: 'status', sale: 'sale_id', installment: 'id' };

const AMOUNTS = ['gross_minor', 'fees_minor', 'deducted_minor', 'advanced_minor', 'remaining_minor'];
const NAMED_AMOUNTS = AMOUNTS.map((column) => `('${column}', ${column})`).join(', ');

/** (C), (E): no amount of an installment is negative, and so none of a row is; deductions do not exceed the original. */
const NEGATIVE_AMOUNTS = `
select ${subject(INSTALLMENT)},
       case amount.figure when 'remaining_minor' then 'DEBT' else 'STATUS' end, amount.figure, '>= 0', amount.minor::text
  from installment cross join lateral (values ${NAMED_AMOUNTS}) as amount (figure, minor)
 where least(${AMOUNTS.join(', ')}) < 0 and amount.minor < 0`;

/** (C): the status follows from the blocks that hold the installment and from the release. */
const STATUSES = `
select ${subject(INSTALLMENT)}, 'STATUS', 'status', expected, status
  from (select installment.*, case when held_by <> '{}' then 'BLOCKED' when released then 'RELEASED' else 'SCHEDULED'
        end as expected
        from installment) as installment
 where status <> expected`;

/** (D): the installments of a sale add up to the sale. (C): its status follows from theirs. */
const SALES = `
select ${subject({ sale: 'sale.id' })}, figure.* from sale full join (
  select sale_id, count(*) filter (where part = 1) as count, sum(gross_minor) as gross_minor, sum(fees_minor) as fees_minor,
         ${SALE_STATUS_SQL} as status
    from installment group by sale_id
) as recorded on recorded.sale_id = sale.id
${compare({
  installments: [`'SALE'`, 'sale.installments', 'recorded.count'],
  sale_gross_minor: [`'SALE'`, 'sale.gross_minor', 'recorded.gross_minor'],
  sale_fees_minor: [`'SALE'`, 'sale.fees_minor', 'recorded.fees_minor'],
  sale_status: [`'STATUS'`, 'recorded.status', 'sale.status'],
})}`;

const share = (column: string) =>
  `sale.${column} / sale.installments + (installment.number <= sale.${column} % sale.installments)::int`;

/** (D): the parts of each installment add up to its share of the sale; the first ones have the remaining cents. */
const SHARES = `
select ${subject({ date: 'installment.date', sale: 'sale.id' })}, figure.* from (
  select sale_id, number, date, gross_minor, fees_minor from installment where not split
  union all
  select sale_id, number, min(date), sum(gross_minor), sum(fees_minor)
    from installment where split group by sale_id, number
) as installment join sale on sale.id = installment.sale_id
${compare({
  installment_gross_minor: [`'SALE'`, share('gross_minor'), 'installment.gross_minor'],
  installment_fees_minor: [`'SALE'`, share('fees_minor'), 'installment.fees_minor'],
})}`;

/** The parts of an installment share its date, are numbered without gaps, and are marked when there are several. */
const PARTS = `
select ${subject({ sale: 'sale_id' })}, figure.* from (
  select sale_id, count(*) as count, max(part) as last, count(distinct date) as dates, bool_and(split) as split
    from installment where split or part > 1 group by sale_id, number
) as installment
${compare({
  parts: [`'SALE'`, 'last', 'count'],
  split: [`'SALE'`, 'count > 1', 'split'],
  dates_of_parts: [`'SALES_COUNT'`, '1', 'dates'],
})}`;

export const INSTALLMENT_CHECKS = [NEGATIVE_AMOUNTS, STATUSES, SALES, SHARES, PARTS];
