import { MAX_AMOUNT_MINOR } from '../../platform/amounts.ts';
import type { RefundSums } from './payment-amounts.ts';
import type { RefundedSale } from './payment-facts.ts';

/** SQL expressions of a payment and of the sale that it names. */
interface Scope {
  readonly merchantId: string;
  readonly environment: string;
  readonly saleId: string;
  readonly paymentIntentId: string;
}

/** `RefundSums`, as text. */
export interface RefundSumsRow {
  refunded_minor: string;
  processing_minor: string;
  in_progress_minor: string;
  blocked_minor: string;
}

/** The sums of a payment's refund cases that are open or succeeded. */
export const refundSums = ({ merchantId, environment, paymentIntentId }: Omit<Scope, 'saleId'>) => `
select coalesce(sum(amount_minor) filter (where status = 'SUCCEEDED'), 0)::text as refunded_minor,
       coalesce(sum(amount_minor) filter (where status = 'PROCESSING'), 0)::text as processing_minor,
       coalesce(sum(amount_minor) filter (where status <> 'SUCCEEDED'), 0)::text as in_progress_minor,
       coalesce(sum(amount_minor) filter (where 'PAYMENT_DISPUTED' = any(blocked_by)), 0)::text as blocked_minor
  from refunds.refund_case
 where merchant_id = ${merchantId} and environment = ${environment} and payment_intent_id = ${paymentIntentId}
   and status not in ('FAILED', 'CANCELED', 'REJECTED')`;

export const refundSumsOf = (row: RefundSumsRow): RefundSums => ({
  refundedMinor: BigInt(row.refunded_minor),
  processingMinor: BigInt(row.processing_minor),
  inProgressMinor: BigInt(row.in_progress_minor),
  blockedMinor: BigInt(row.blocked_minor),
});

/** The used part of a sale, by all its payments and by the others. Amounts in centavos, as text. */
export interface SaleUseRow {
  sale_used_minor: string;
  sale_used_elsewhere_minor: string;
}

/**
 * The amount of a lost dispute. One lost without an amount, of a payment of which nothing was known, took all that was left
 * of its sale.
 */
const LOST_MINOR = `coalesce(lost_minor, amount_minor, ${MAX_AMOUNT_MINOR})`;

/** The part of a sale used by the refunds and lost disputes of all its payments. */
export const saleUse = ({ merchantId, environment, saleId, paymentIntentId }: Scope) => `
select (cases.minor + lost.minor)::text as sale_used_minor,
       (cases.others_minor + lost.others_minor)::text as sale_used_elsewhere_minor
  from (select coalesce(sum(amount_minor), 0) as minor,
               coalesce(sum(amount_minor) filter (where payment_intent_id <> ${paymentIntentId}), 0) as others_minor
          from refunds.refund_case
         where merchant_id = ${merchantId} and environment = ${environment} and sale_id = ${saleId}
           and status not in ('FAILED', 'CANCELED', 'REJECTED')) as cases
 cross join (
   select coalesce(sum(${LOST_MINOR}), 0) as minor,
          coalesce(sum(${LOST_MINOR}) filter (where payment_intent_id <> ${paymentIntentId}), 0) as others_minor
     from refunds.dispute
    where merchant_id = ${merchantId} and environment = ${environment} and sale_id = ${saleId}
      and outcome = 'LOST') as lost`;

/** @param amountMinor the captured amount of the sale; null until it is known. */
export const refundedSaleOf = (row: SaleUseRow, amountMinor: bigint | null): RefundedSale => ({
  amountMinor,
  usedMinor: BigInt(row.sale_used_minor),
  usedElsewhereMinor: BigInt(row.sale_used_elsewhere_minor),
});
