import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { isAnyOf } from '../../platform/reads/ids.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';

const db = queryBuilder<Record<never, never>>();

/** The deductions for a source, in centavos. */
export interface DeductionReadRow {
  amount_minor: bigint;
  /** The part that no installment covered when it was deducted. */
  debt_minor: bigint;
  open_debt_minor: bigint;
  occurred_at: Timestamp;
  /** The amount returned to installments. */
  restored_minor: bigint;
  canceled_debt_minor: bigint;
  reversed_at: Timestamp | null;
  reason: string | null;
}

/** What the lost blocks of a source held, and its deduction; no row without either. */
export const selectDeduction = prepareRead<Tenant & { readonly sourceId: string }, DeductionReadRow>(
  (parameters) => {
    const ofTenant = sql`merchant_id = ${parameters('merchantId')} and environment = ${parameters('environment')}
      and source_id = ${parameters('sourceId')}`;
    return sql<DeductionReadRow>`
      select (posted.consumed_minor + coalesce(deduction.amount_minor, 0))::bigint as amount_minor,
             coalesce(deduction.amount_minor - posted.deducted_minor, 0)::bigint as debt_minor,
             coalesce(deduction.open_debt_minor, 0) as open_debt_minor,
             least(lost.closed_at, posted.deducted_at, deduction.occurred_at) as occurred_at,
             posted.restored_minor::bigint as restored_minor,
             coalesce(deduction.canceled_debt_minor, 0) as canceled_debt_minor, deduction.reversed_at, deduction.reason
        from (select min(closed_at) as closed_at from funds.block
               where ${ofTenant} and reason = 'HOLD_OR_DISPUTE' and outcome in ('CONSUMED', 'REVERSED')) as lost
       cross join (select coalesce(sum(amount_minor) filter (where kind = 'CONSUMPTION'), 0) as consumed_minor,
                          coalesce(sum(amount_minor) filter (where kind = 'DEDUCTION'), 0) as deducted_minor,
                          min(posted_at) filter (where kind = 'DEDUCTION') as deducted_at,
                          coalesce(sum(amount_minor)
                            filter (where kind in ('DEDUCTION_REVERSAL', 'CONSUMPTION_REVERSAL')), 0) as restored_minor
                     from funds.posting where ${ofTenant}) as posted
        left join (select amount_minor, open_debt_minor, occurred_at, canceled_debt_minor, reversed_at, reason
                     from funds.deduction where ${ofTenant}) as deduction on true
       where lost.closed_at is not null or deduction.occurred_at is not null`.compile(db);
  },
);

/** The net deduction for a source in centavos, as text: it may exceed 64 bits. */
export interface SourceDeductionRow {
  source_id: string;
  amount_minor: string;
}

/**
 * The net deductions for sources: less what was returned and less canceled debt. No row for sources without a
 * deduction.
 */
export const selectDeductions = prepareRead<
  Tenant & { readonly sourceIds: readonly string[] },
  SourceDeductionRow
>((parameters) => {
  const ofSources = sql`merchant_id = ${parameters('merchantId')} and environment = ${parameters('environment')}
      and ${isAnyOf('source_id', parameters('sourceIds'))}`;
  return sql<SourceDeductionRow>`
    select source_id, sum(amount_minor)::text as amount_minor
      from (select source_id, case kind when 'CONSUMPTION' then amount_minor else -amount_minor end as amount_minor
              from funds.posting
             where ${ofSources} and kind in ('CONSUMPTION', 'CONSUMPTION_REVERSAL', 'DEDUCTION_REVERSAL')
            union all
            select source_id, amount_minor - canceled_debt_minor from funds.deduction where ${ofSources}) as deducted
     group by source_id`.compile(db);
});
