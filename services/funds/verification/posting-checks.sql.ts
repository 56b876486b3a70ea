import { compare, subject } from './difference.sql.ts';

/** (E): no debt is open while an installment is free. */
const UNCOLLECTED_DEBTS = `
select ${subject({})}, 'DEBT', 'free_minor', '0', sum(remaining_minor)::text from installment
 where status = 'SCHEDULED' and reserved_for is null and remaining_minor > 0
   and exists (select from deduction where open_debt_minor > 0)
having sum(remaining_minor) > 0`;

/** The deducted and advanced amounts of an installment are the sums of its postings. */
const INSTALLMENT_POSTINGS = `
select ${subject({ date: 'date', status: 'status', sale: 'sale_id', installment: 'id' })}, figure.*
  from installment left join (
  select installment_id, sum(amount_minor) filter (where kind = 'ADVANCE') as advanced_minor,
         sum(case when kind in ('REFUND_REVERSAL', 'DEDUCTION_REVERSAL', 'CONSUMPTION_REVERSAL') then -amount_minor
               else amount_minor end)
           filter (where kind <> 'ADVANCE') as deducted_minor
    from posting group by installment_id
) as posted on posted.installment_id = installment.id
${compare({
  posted_deducted_minor: [`'POSTING'`, 'coalesce(posted.deducted_minor, 0)', 'installment.deducted_minor'],
  posted_advanced_minor: [`'POSTING'`, 'coalesce(posted.advanced_minor, 0)', 'installment.advanced_minor'],
})}`;

/**
 * The amount of every deduction that is neither owed nor canceled, nor paid from outside, and that of every refund and reservation, is
 * posted in full, and every posting has such a cause.
 */
const CAUSES = `
select ${subject({ source: 'source_id' })}, figure.* from (
  select 'DEBT' as invariant, 'deducted_minor' as kind, source_id,
         amount_minor - open_debt_minor - canceled_debt_minor - coalesce(paid.minor, 0) as minor
    from deduction full join (
    select source_id, sum(amount_minor) as minor from debt_payment group by source_id
  ) as paid using (source_id)
  union all select 'REFUND', 'debited_minor', refund_case_id, amount_minor from refund_debit
  union all select 'REFUND', 'reversed_minor', refund_case_id, amount_minor from refund_debit where reversed_at is not null
  union all select 'RESERVATION', 'advanced_minor', advance_request_id, amount_minor from reservation
   where state = 'SETTLED'
) as cause full join (
  select case kind when 'REFUND_DEBIT' then 'debited_minor' when 'REFUND_REVERSAL' then 'reversed_minor'
           when 'ADVANCE' then 'advanced_minor' else 'deducted_minor' end as kind, source_id, sum(amount_minor) as minor
    from posting where kind not in ('CONSUMPTION', 'CONSUMPTION_REVERSAL', 'DEDUCTION_REVERSAL') group by 1, 2
) as posted using (kind, source_id)
${compare({ posted_minor: [`coalesce(invariant, 'POSTING')`, 'cause.minor', 'posted.minor'] })}`;

/** A lost block consumes installments of its own sale only. */
const CONSUMED = `
select ${subject({ sale: 'sale_id', installment: 'installment_id', source: 'source_id' })}, 'POSTING', 'consumed_minor', '0',
       posting.amount_minor::text
  from posting join installment on installment.id = posting.installment_id
 where posting.kind = 'CONSUMPTION' and not exists (
   select from block where block.sale_id = installment.sale_id and block.source_id = posting.source_id
      and block.outcome in ('CONSUMED', 'REVERSED'))`;

/** A reversal restores what the refund's debit deducted from the same installment. */
const REVERSED = `
select ${subject({ installment: 'installment_id', source: 'source_id' })}, 'REFUND', 'reversed_minor',
       coalesce(sum(amount_minor) filter (where kind = 'REFUND_DEBIT'), 0)::text,
       sum(amount_minor) filter (where kind = 'REFUND_REVERSAL')::text
  from posting where kind in ('REFUND_DEBIT', 'REFUND_REVERSAL') group by installment_id, source_id
having sum(amount_minor) filter (where kind = 'REFUND_REVERSAL')
       <> coalesce(sum(amount_minor) filter (where kind = 'REFUND_DEBIT'), 0)`;

/** A reversed deduction restores what it, and what was collected of its debt, took from the same installment. */
const DEDUCTIONS_REVERSED = `
select ${subject({ installment: 'installment_id', source: 'source_id' })}, 'DEBT', 'reversed_minor',
       (case when deduction.reversed_at is null then 0 else posted.taken_minor end)::text, posted.reversed_minor::text
  from (select installment_id, source_id,
               coalesce(sum(amount_minor) filter (where kind in ('DEDUCTION', 'DEBT')), 0) as taken_minor,
               coalesce(sum(amount_minor) filter (where kind = 'DEDUCTION_REVERSAL'), 0) as reversed_minor
          from posting where kind in ('DEDUCTION', 'DEBT', 'DEDUCTION_REVERSAL') group by 1, 2) as posted
  left join deduction using (source_id)
 where posted.reversed_minor <> case when deduction.reversed_at is null then 0 else posted.taken_minor end`;

/** Exactly what the reversed blocks of a source consumed of a sale is restored; what lost blocks consumed is not. */
const CONSUMPTIONS_REVERSED = `
select ${subject({ installment: 'installment_id', source: 'source_id' })}, 'POSTING', 'reversed_minor',
       consumed_minor::text, restored_minor::text
  from (select installment_id, source_id,
               coalesce(sum(amount_minor) filter (where kind = 'CONSUMPTION'), 0) as consumed_minor,
               coalesce(sum(amount_minor) filter (where kind = 'CONSUMPTION_REVERSAL'), 0) as restored_minor
          from posting where kind in ('CONSUMPTION', 'CONSUMPTION_REVERSAL') group by 1, 2) as posted
  join installment on installment.id = posted.installment_id
 where restored_minor > consumed_minor
    or (restored_minor <> consumed_minor and not exists (
         select from block where block.sale_id = installment.sale_id and block.source_id = posted.source_id
            and block.outcome = 'CONSUMED'))`;

/** A debited refund does not await funding. */
const DEBITED_AND_PENDING = `
select ${subject({ source: 'refund_case_id' })}, 'REFUND', 'pending_minor', '0', pending_debit.amount_minor::text
  from pending_debit join refund_debit using (refund_case_id)`;

export const POSTING_CHECKS = [
  UNCOLLECTED_DEBTS,
  INSTALLMENT_POSTINGS,
  CAUSES,
  CONSUMED,
  REVERSED,
  DEDUCTIONS_REVERSED,
  CONSUMPTIONS_REVERSED,
  DEBITED_AND_PENDING,
];
