import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  GetPaymentRequest,
  GetPaymentResponse,
  Payment,
  RefundWindow,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notFound } from '../../platform/errors.ts';
import { environmentEnum, tenantOf } from '../../platform/tenant.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { within64Bits } from '../../platform/within-64-bits.ts';
import { type PaymentReadRow, selectPayment } from './payment.queries.ts';
import { paymentAmounts } from './payment-amounts.ts';
import { refundWindowExpiresAt, saleRestMinor } from './payment-facts.ts';
import { refundedSaleOf, refundSumsOf } from './payment-use.sql.ts';
import { type SaleReads, saleAmountOf } from './refunded-sale.ts';

/** The refunded, lost and refundable amounts of a payment. NOT_FOUND (PAYMENT_NOT_FOUND). */
export async function getPayment(
  sales: SaleReads,
  request: GetPaymentRequest,
  context: HandlerContext,
): Promise<GetPaymentResponse> {
  const payment = selectPayment({ ...tenantOf(request), id: request.paymentIntentId });
  const row = await sales.database.readOne(payment);
  if (!row) throw notFound('PAYMENT_NOT_FOUND', 'no refund case or dispute has named the payment');
  const saleAmountMinor = mayBeLimited(row)
    ? await saleAmountOf(sales, request, context)
    : row.sale_amount_minor;
  return {
    $typeName: 'payments.refunds.v1.GetPaymentResponse',
    payment: paymentMessage({ ...row, sale_amount_minor: saleAmountMinor }),
  };
}

/**
 * Whether the amount of the payment's sale is not known and may limit what is refundable: the sale may have been recorded since
 * the payment's last refund case. Alone it does not limit its payment. Otherwise the answer needs no other area.
 */
function mayBeLimited(row: PaymentReadRow): boolean {
  if (row.sale_amount_minor !== null || BigInt(row.sale_used_elsewhere_minor) === 0n) return false;
  return (amountsOf(row).refundableAmountMinor ?? 0n) > 0n;
}

function paymentMessage(row: PaymentReadRow): Payment {
  return {
    $typeName: 'payments.refunds.v1.Payment',
    paymentIntentId: row.id,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    saleId: row.sale_id ?? undefined,
    orderId: row.order_id ?? undefined,
    invoiceId: row.invoice_id ?? undefined,
    paidAt: row.paid_at ?? undefined,
    refundedAmountMinor: BigInt(row.refunded_minor),
    inProgressAmountMinor: within64Bits(BigInt(row.in_progress_minor)),
    openDisputes: row.disputes.filter((dispute) => dispute.outcome === null).length,
    ...amountsOf(row),
    refundWindow: refundWindow(row),
  };
}

function refundWindow({
  paid_at: paidAt,
  refund_window_days: days,
}: PaymentReadRow): RefundWindow | undefined {
  const facts = { paidAt: paidAt && timestampDate(paidAt), refundWindowDays: days };
  const expiresAt = timestampOf(refundWindowExpiresAt(facts));
  if (!expiresAt || days === null) return undefined;
  return { $typeName: 'payments.refunds.v1.RefundWindow', days, expiresAt };
}

function amountsOf(row: PaymentReadRow): Partial<Payment> {
  const { paid_amount_minor: paidAmountMinor } = row;
  if (paidAmountMinor === null) return {};
  const disputes = row.disputes.map(({ amount_minor, lost_minor, closed_at_ms, outcome }) => ({
    amountMinor: amount_minor === null ? null : BigInt(amount_minor),
    lostMinor: lost_minor === null ? null : BigInt(lost_minor),
    closedAt: closed_at_ms === null ? null : new Date(closed_at_ms),
    outcome,
  }));
  const { lostMinor, refundableMinor } = paymentAmounts(
    paidAmountMinor,
    { ...refundSumsOf(row), disputes },
    saleRestMinor(refundedSaleOf(row, row.sale_amount_minor), paidAmountMinor),
  );
  return { paidAmountMinor, lostAmountMinor: lostMinor, refundableAmountMinor: refundableMinor };
}
