import type { Client, HandlerContext } from '@connectrpc/connect';
import type { FundsService } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { OpenRefundCaseRequest } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { callFor } from '../../platform/rpc/call-context.ts';
import { unlessRefused } from '../../platform/rpc/connect-errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { selectSaleOfPayment } from './payment.queries.ts';
import type { RefundedSale } from './payment-facts.ts';
import { refundedSaleOf, type SaleUseRow, saleUse } from './payment-use.sql.ts';

export interface SaleReads {
  readonly database: Database;
  readonly funds: Client<typeof FundsService>;
}

/**
 * The captured amount in centavos of the sale that a request names, or that its payment has; null without one, and until it is
 * recorded. It never changes.
 */
export async function saleAmountOf(
  { database, funds }: SaleReads,
  request: Pick<OpenRefundCaseRequest, 'merchantId' | 'environment' | 'saleId' | 'paymentIntentId'>,
  context: HandlerContext,
): Promise<bigint | null> {
  const { merchantId, environment } = request;
  let { saleId } = request;
  if (saleId === undefined) {
    const payment = { ...tenantOf(request), id: request.paymentIntentId };
    const known = await database.readOne(selectSaleOfPayment(payment));
    if (!known?.sale_id) return null;
    if (known.sale_amount_minor !== null) return known.sale_amount_minor;
    saleId = known.sale_id;
  }
  const call = { ...callFor(context), signal: context.signal };
  const reading = funds.getSale({ merchantId, environment, saleId }, call);
  const read = await unlessRefused(reading, { SALE_NOT_FOUND: null });
  return read?.sale?.grossAmountMinor ?? null;
}

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
