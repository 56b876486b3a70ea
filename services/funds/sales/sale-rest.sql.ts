/** SQL expressions of the tenant, and the prefix of its tables. */
interface Scope {
  readonly merchantId: string;
  readonly environment: string;
  readonly schema: 'funds.' | '';
}

/** The tenant of the transaction that runs a statement. */
export const TENANT_SCOPE: Scope = {
  merchantId: ':merchantId',
  environment: ':environment',
  schema: 'funds.',
};

/**
 * The amounts deducted for a source, less what was restored: by its lost blocks from the installments of their sales,
 * and by its deduction. `source` and `saleId` are SQL expressions; `saleId` limits the amounts to one sale.
 */
export function amountsDeductedFor(
  source: string,
  { merchantId, environment, schema }: Scope,
  saleId?: string,
): string {
  return `
     select case posting.kind when 'CONSUMPTION' then posting.amount_minor else -posting.amount_minor end as amount_minor
       from ${schema}posting join ${schema}installment
         on installment.merchant_id = ${merchantId} and installment.environment = ${environment}
        and installment.id = posting.installment_id
      where posting.merchant_id = ${merchantId} and posting.environment = ${environment}
        and posting.source_id = ${source} and posting.kind in ('CONSUMPTION', 'CONSUMPTION_REVERSAL')
        ${saleId ? `and installment.sale_id = ${saleId}` : ''}
     union all
     select deduction.amount_minor from ${schema}deduction
      where deduction.merchant_id = ${merchantId} and deduction.environment = ${environment}
        and deduction.source_id = ${source} and deduction.reversed_at is null
        ${saleId ? `and deduction.sale_id = ${saleId}` : ''}`;
}

/** The sum deducted from a sale for lost disputes; `saleId` is an SQL expression. */
export function lostMinorOf(saleId: string, scope: Scope): string {
  const { merchantId, environment, schema } = scope;
  return `(
  select coalesce(sum(deducted.amount_minor), 0)
    from (select distinct other.source_id from ${schema}block as other
           where other.merchant_id = ${merchantId} and other.environment = ${environment}
             and other.sale_id = ${saleId} and other.reason = 'HOLD_OR_DISPUTE'
             and other.outcome = 'CONSUMED') as lost
   cross join lateral (${amountsDeductedFor('lost.source_id', scope, saleId)}
   ) as deducted)`;
}

/** What refunds and lost disputes have used of a sale, like `usedMinor` in sale-rest.ts; `saleId` is an SQL expression. */
export function usedMinorOf(saleId: string, scope: Scope): string {
  const { merchantId, environment, schema } = scope;
  return `((
  select coalesce(sum(debit.amount_minor), 0) from ${schema}refund_debit as debit
   where debit.merchant_id = ${merchantId} and debit.environment = ${environment}
     and debit.sale_id = ${saleId} and debit.reversed_at is null) + ${lostMinorOf(saleId, scope)})`;
}
