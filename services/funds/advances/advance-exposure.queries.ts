import { sql } from 'kysely';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { Tenant } from '../../platform/tenant.ts';

/** Sums of an account in centavos, as text, and the open blocks on the sales that an advance covers. */
export interface AdvanceExposureRow {
  released_minor: string;
  open_debts_minor: string;
  dispute_ids: string[];
  other_holds: ('KYC_PENDING' | 'COMPLIANCE_HOLD')[];
}

const db = queryBuilder<Record<never, never>>();

/** The released amount and the open debts of an account, and the open blocks of the sales that a reservation covers. */
export const selectAdvanceExposure = prepareRead<
  Tenant & { readonly advanceRequestId: string },
  AdvanceExposureRow
>((parameters) => {
  const ofTenant = (table: string) =>
    sql`${sql.ref(`${table}.merchant_id`)} = ${parameters('merchantId')}
      and ${sql.ref(`${table}.environment`)} = ${parameters('environment')}`;
  const ofCoveredSales = sql`from funds.installment join funds.block on block.sale_id = installment.sale_id
                  where ${ofTenant('installment')} and ${ofTenant('block')}
                    and installment.reserved_for = ${parameters('advanceRequestId')} and block.closed_at is null`;
  return sql<AdvanceExposureRow>`
    select (select coalesce(sum(remaining_minor), 0)::text from funds.release
             where ${ofTenant('release')} and status = 'RELEASED') as released_minor,
           (select coalesce(sum(open_debt_minor), 0)::text from funds.deduction
             where ${ofTenant('deduction')} and open_debt_minor > 0) as open_debts_minor,
           array(select distinct block.source_id ${ofCoveredSales}
                    and block.reason = 'HOLD_OR_DISPUTE' order by block.source_id) as dispute_ids,
           array(select distinct block.reason ${ofCoveredSales}
                    and block.reason in ('KYC_PENDING', 'COMPLIANCE_HOLD')) as other_holds`.compile(db);
});
