import { sql } from 'kysely';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import type { RecordKey } from '../../platform/tenant.ts';
import type { DisputeOutcome } from '../disputes/dispute.ts';
import { PaymentEntity } from '../refund-case.entity.ts';
import { type RefundSumsRow, refundSums, type SaleUseRow, saleUse } from './payment-use.sql.ts';

/** A dispute of a payment that is open or was lost, as JSON. Amounts in centavos, as text. */
interface JsonDispute {
  readonly amount_minor: string | null;
  readonly lost_minor: string | null;
  readonly closed_at_ms: number | null;
  readonly outcome: DisputeOutcome | null;
}

/** A payment with the sums of its refund cases in centavos, as text, and its disputes that are open or were lost. */
export type PaymentReadRow = ReadTable<typeof PaymentEntity> &
  SaleUseRow &
  RefundSumsRow & {
    disputes: readonly JsonDispute[];
  };

const db = queryBuilder<{ 'refunds.payment': ReadTable<typeof PaymentEntity> }>();

const PAYMENT = {
  merchantId: 'payment.merchant_id',
  environment: 'payment.environment',
  saleId: 'payment.sale_id',
  paymentIntentId: 'payment.id',
} as const;

const CASES = sql<RefundSumsRow>`lateral (${sql.raw(refundSums(PAYMENT))})`;

const OF_SALE = sql<SaleUseRow>`lateral (${sql.raw(saleUse(PAYMENT))})`;

const DISPUTES = sql<Pick<PaymentReadRow, 'disputes'>>`lateral (
  select coalesce(json_agg(json_build_object(
           'amount_minor', amount_minor::text, 'lost_minor', lost_minor::text, 'outcome', outcome,
           'closed_at_ms', (extract(epoch from closed_at) * 1000)::float8)), '[]') as disputes
    from refunds.dispute
   where merchant_id = payment.merchant_id and environment = payment.environment and payment_intent_id = payment.id
     and (closed_at is null or outcome = 'LOST'))`;

/** The sale of a payment, if it is known, and what was captured of it. */
export const selectSaleOfPayment = prepareRead<
  RecordKey,
  Pick<PaymentReadRow, 'sale_id' | 'sale_amount_minor'>
>((parameters) =>
  db
    .selectFrom('refunds.payment')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .select(['sale_id', 'sale_amount_minor'])
    .compile(),
);

/** A payment, in one statement, so that its sums belong together. */
export const selectPayment = prepareRead<RecordKey, PaymentReadRow>((parameters) =>
  db
    .selectFrom('refunds.payment as payment')
    .innerJoin(CASES.as('cases'), (join) => join.onTrue())
    .innerJoin(OF_SALE.as('of_sale'), (join) => join.onTrue())
    .innerJoin(DISPUTES.as('disputed'), (join) => join.onTrue())
    .where('payment.merchant_id', '=', parameters('merchantId'))
    .where('payment.environment', '=', parameters('environment'))
    .where('payment.id', '=', parameters('id'))
    .select(columnsOf(PaymentEntity, 'payment'))
    .select([
      'cases.refunded_minor',
      'cases.processing_minor',
      'cases.in_progress_minor',
      'cases.blocked_minor',
    ])
    .select('disputed.disputes')
    .select(['of_sale.sale_used_minor', 'of_sale.sale_used_elsewhere_minor'])
    .compile(),
);
