import { MAX_AMOUNT_MINOR } from '../platform/amounts.ts';
import type { RefundedSale } from './payment-facts.ts';

/** SQL expressions of a payment and of the sale that it names. */
interface Scope {
  readonly merchantId: string;
  readonly environment: string;
  readonly saleId: string;
  readonly paymentIntentId: string;
}

/** The used part of a sale. Amounts in centavos, as text. */
export interface SaleUseRow {
  sale_committed_minor: string;
  sale_lost_elsewhere_minor: string;
  sale_is_shared: boolean;
}

/**
 * The part of a sale used by the refunds of all its payments and by lost disputes of the other payments. A dispute lost
 * without an amount, of a payment of which nothing was known, used all that was left.
 */
export const saleUse = ({ merchantId, environment, saleId, paymentIntentId }: Scope) => `
select cases.minor::text as sale_committed_minor, lost.minor::text as sale_lost_elsewhere_minor,
       cases.others_minor + lost.minor > 0 as sale_is_shared
  from (select coalesce(sum(amount_minor), 0) as minor,
               coalesce(sum(amount_minor) filter (where payment_intent_id <> ${paymentIntentId}), 0) as others_minor
          from refunds.refund_case
         where merchant_id = ${merchantId} and environment = ${environment} and sale_id = ${saleId}
           and status not in ('FAILED', 'CANCELED', 'REJECTED')) as cases
 cross join (
   select coalesce(sum(coalesce(lost_minor, amount_minor, ${MAX_AMOUNT_MINOR})), 0) as minor
     from refunds.dispute
    where merchant_id = ${merchantId} and environment = ${environment} and sale_id = ${saleId}
      and payment_intent_id <> ${paymentIntentId} and outcome = 'LOST') as lost`;

/** @param amountMinor the captured amount of the sale; null until it is known. */
export const refundedSaleOf = (row: SaleUseRow, amountMinor: bigint | null): RefundedSale => ({
  amountMinor,
  committedMinor: BigInt(row.sale_committed_minor),
  lostElsewhereMinor: BigInt(row.sale_lost_elsewhere_minor),
  isShared: row.sale_is_shared,
});
