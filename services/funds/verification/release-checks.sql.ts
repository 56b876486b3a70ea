import { MAX_AMOUNT_MINOR } from '../../platform/amounts.ts';
import { compare, recomputed, subject } from './difference.sql.ts';

/** The distinct sales of a row that have several parts; of other sales, a row has one part each. */
const SPLIT_SALES = `
  select date, status, count(distinct sale_id) as count from installment where split group by date, status`;

/** (A), (B), (F): the stored rows are the sums of their installments. A row that only one side has differs in every figure. */
const SUMS = `
select ${subject({ date: 'date', status: 'status' })}, figure.* from release as stored full join (
  select date, status, sum(gross_minor) as gross_minor, sum(fees_minor) as fees_minor,
         sum(deducted_minor) as deducted_minor, sum(advanced_minor) as advanced_minor,
         sum(remaining_minor) as remaining_minor, count(*) filter (where part = 1) as first_parts,
         count(*) filter (where not split) + coalesce(max(split_sales.count), 0) as sales_count
    from installment left join (${SPLIT_SALES}) as split_sales using (date, status) group by date, status
) as computed using (date, status)
${compare({
  gross_minor: recomputed('ORIGINAL', 'gross_minor'),
  fees_minor: recomputed('ORIGINAL', 'fees_minor'),
  deducted_minor: recomputed('DISTRIBUTION', 'deducted_minor'),
  advanced_minor: recomputed('DISTRIBUTION', 'advanced_minor'),
  remaining_minor: recomputed('DISTRIBUTION', 'remaining_minor'),
  sales_count: recomputed('SALES_COUNT', 'sales_count'),
  first_parts: recomputed('SALES_COUNT', 'first_parts'),
})}`;

/** (F): days count first parts instead of sales, so a sale may not have two installments on a date. */
const TWICE_A_DAY = `
select ${subject({ date: 'date', sale: 'sale_id' })}, 'SALES_COUNT', 'installments_of_sale', '1',
       count(*)::text
  from installment where part = 1 group by sale_id, date having count(*) > 1`;

/** No day exceeds the exact range. */
const OUT_OF_RANGE = `
select ${subject({ date: 'date' })}, 'RANGE', 'day_gross_minor', '<= ${MAX_AMOUNT_MINOR}', sum(gross_minor)::text
  from installment group by date having sum(gross_minor) > ${MAX_AMOUNT_MINOR}`;

const blockedBy = (reason: string) =>
  `count(distinct installment.id) filter (where block.reason = '${reason}')`;

/** (C): the number of parts that blocks of each reason hold. */
const BLOCK_COUNTS = `
select ${subject({ date: 'date', status: 'status' })}, figure.* from release as stored full join (
  select installment.date, installment.status, ${blockedBy('HOLD_OR_DISPUTE')} as held_by_dispute,
         ${blockedBy('REFUND_IN_PROGRESS')} as held_by_refund, ${blockedBy('KYC_PENDING')} as held_by_kyc,
         ${blockedBy('COMPLIANCE_HOLD')} as held_by_compliance
    from installment join block on block.id = any(installment.held_by)
   group by installment.date, installment.status
) as computed using (date, status)
${compare({
  held_by_dispute: recomputed('STATUS', 'held_by_dispute'),
  held_by_refund: recomputed('STATUS', 'held_by_refund'),
  held_by_kyc: recomputed('STATUS', 'held_by_kyc'),
  held_by_compliance: recomputed('STATUS', 'held_by_compliance'),
})}`;

const HAS_REASONS = 'held_by_dispute + held_by_refund + held_by_kyc + held_by_compliance > 0';

/** (C): a row is BLOCKED exactly when it has reasons and a blocked amount. */
const BLOCKED_ROWS = `
select ${subject({ date: 'date', status: 'status' })}, figure.* from release
${compare({
  has_blocked_reasons: [`'STATUS'`, `status = 'BLOCKED'`, HAS_REASONS],
  has_blocked_amount: [`'STATUS'`, `status = 'BLOCKED'`, `status = 'BLOCKED' and remaining_minor > 0`],
})}`;

export const RELEASE_CHECKS = [SUMS, TWICE_A_DAY, OUT_OF_RANGE, BLOCK_COUNTS, BLOCKED_ROWS];
