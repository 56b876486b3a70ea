import { Client } from 'pg';
import { expect } from 'vitest';

/** The kept rows beside the sums computed anew from the parts; a full join finds what only one side has. */
const ROWS = `
with held as (
  select part.merchant_id, part.environment, part.id, block.reason
    from funds.part join funds.block using (merchant_id, environment, sale_id)
   where part.status = 'BLOCKED' and block.closed_at is null
   group by 1, 2, 3, 4
), anew as (
  select merchant_id, environment, date, status, sum(gross_minor) as gross_minor, sum(fees_minor) as fees_minor,
         sum(deducted_minor) as deducted_minor, sum(advanced_minor) as advanced_minor, sum(left_minor) as left_minor,
         count(distinct sale_id) as sales_count,
         (select array_agg(reason || ' ' || parts order by reason) from (
            select reason, count(*) as parts from held join funds.part counted using (merchant_id, environment, id)
             where counted.merchant_id = part.merchant_id and counted.environment = part.environment
               and counted.date = part.date group by reason) as reasons
          where part.status = 'BLOCKED') as reasons
    from funds.part group by merchant_id, environment, date, status
), kept as (
  select merchant_id, environment, date, status, gross_minor, fees_minor, deducted_minor, advanced_minor, left_minor,
         sales_count, nullif(array_remove(array[
           case when held_by_compliance > 0 then 'COMPLIANCE_HOLD ' || held_by_compliance end,
           case when held_by_dispute > 0 then 'HOLD_OR_DISPUTE ' || held_by_dispute end,
           case when held_by_kyc > 0 then 'KYC_PENDING ' || held_by_kyc end,
           case when held_by_refund > 0 then 'REFUND_IN_PROGRESS ' || held_by_refund end], null), '{}') as reasons
    from funds.release
)
select * from kept full join anew using (merchant_id, environment, date, status)
 where (kept.gross_minor, kept.fees_minor, kept.deducted_minor, kept.advanced_minor, kept.left_minor,
        kept.sales_count, kept.reasons)
       is distinct from
       (anew.gross_minor, anew.fees_minor, anew.deducted_minor, anew.advanced_minor, anew.left_minor,
        anew.sales_count, anew.reasons)`;

/** Parts whose amounts are not the sums of their postings. */
const POSTINGS = `
select part.id from funds.part
  left join funds.posting on (posting.merchant_id, posting.environment, posting.part_id)
                           = (part.merchant_id, part.environment, part.id)
 group by part.merchant_id, part.environment, part.id
having part.advanced_minor <> coalesce(sum(amount_minor) filter (where kind = 'ADVANCE'), 0)
    or part.deducted_minor <> coalesce(sum(case kind when 'ADVANCE' then 0 when 'REFUND_REVERSAL' then -amount_minor
                                            else amount_minor end), 0)`;

/** Sales whose parts do not sum to what was captured, and days counting a sale twice. */
const SALES = `
select sale.id from funds.sale join funds.part
    on (part.merchant_id, part.environment, part.sale_id) = (sale.merchant_id, sale.environment, sale.id)
 group by sale.merchant_id, sale.environment, sale.id
having sum(part.gross_minor) <> sale.gross_minor or sum(part.fees_minor) <> sale.fees_minor
    or count(*) <> sale.installments`;

/** Debts that wait although a part is free, and deductions that are neither taken nor owed. */
const DEBTS = `
select source_id from funds.deduction
 where (open_debt_minor > 0 and exists (
         select from funds.part where (part.merchant_id, part.environment) = (deduction.merchant_id, deduction.environment)
            and status = 'SCHEDULED' and reserved_for is null and left_minor > 0))
    or amount_minor - open_debt_minor <> (
         select coalesce(sum(amount_minor), 0) from funds.posting
          where (posting.merchant_id, posting.environment, posting.source_id)
              = (deduction.merchant_id, deduction.environment, deduction.source_id)
            and kind in ('DEDUCTION', 'DEBT'))`;

/** Recomputes all funds of a database from their parts and postings, and expects the kept sums to agree. */
export async function verifyFunds(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const check of [ROWS, POSTINGS, SALES, DEBTS]) {
      const { rows } = await client.query(check);
      expect(rows).toEqual([]);
    }
  } finally {
    await client.end();
  }
}
