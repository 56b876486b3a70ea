import type { Client, HandlerContext } from '@connectrpc/connect';
import type { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { OpenRefundCaseRequest } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { readFor } from '../../platform/rpc/call-context.ts';
import { unlessRefused } from '../../platform/rpc/connect-errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectSaleOfPayment } from './payment.queries.ts';
import type { RefundedSale } from './payment-facts.ts';
import { refundedSaleOf, type SaleUseRow, saleUse } from './payment-use.sql.ts';

export interface SaleReads {
  readonly database: Database;
  readonly funds: Client<typeof FundsService>;
}

/** A sale, and what was captured of it in centavos; null until it is recorded. It never changes. */
interface CapturedSale {
  readonly saleId: string;
  readonly amountMinor: bigint | null;
}

/** The sale that a request names, or that its payment has; null without one. */
export async function capturedSaleOf(
  { database, funds }: SaleReads,
  request: Pick<OpenRefundCaseRequest, 'merchantId' | 'environment' | 'saleId' | 'paymentIntentId'>,
  context: HandlerContext,
): Promise<CapturedSale | null> {
  const { merchantId, environment } = request;
  let saleId = request.saleId?.toLowerCase();
  if (saleId === undefined) {
    const payment = { ...tenantOf(request), id: request.paymentIntentId };
    const known = await database.readOne(selectSaleOfPayment(payment));
    if (!known?.sale_id) return null;
    saleId = known.sale_id;
    if (known.sale_amount_minor !== null) return { saleId, amountMinor: known.sale_amount_minor };
  }
  const reading = funds.getSale({ merchantId, environment, saleId }, readFor(context));
  const read = await unlessRefused(reading, { SALE_NOT_FOUND: null });
  return { saleId, amountMinor: read?.sale?.grossAmountMinor ?? null };
}

/** The captured amount of that sale; null without one, and until it is recorded. */
export const saleAmountOf = async (...call: Parameters<typeof capturedSaleOf>): Promise<bigint | null> =>
  (await capturedSaleOf(...call))?.amountMinor ?? null;

const SALE_USE = saleUse({
  merchantId: ':merchantId',
  environment: ':environment',
  saleId: ':saleId',
  paymentIntentId: ':paymentIntentId',
});

/**
 * How much of the payment's sale has been used up by refunds of all the payments that name it. Locks the sale until the
 * transaction ends, so that cases of different payments that are opened at the same time count each other. The payment
 * is already locked.
 */
export async function lockRefundedSale(
  tx: TenantTransaction,
  paymentIntentId: string,
  saleId: string,
  amountMinor: bigint | null,
): Promise<RefundedSale> {
  await tx.awaitNamedLock(`sale ${saleId}`);
  const [row] = await tx.execute<SaleUseRow>(SALE_USE, { paymentIntentId, saleId });
  return refundedSaleOf(row!, amountMinor);
}
