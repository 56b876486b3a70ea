import type { Client, HandlerContext } from '@connectrpc/connect';
import type { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { OpenRefundCaseRequest } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { callFor } from '../platform/rpc/call-context.ts';
import { errorInfoOf } from '../platform/rpc/connect-errors.ts';
import { tenantOf } from '../platform/tenant.ts';
import { selectPayment } from './payment.queries.ts';
import type { RefundedSale } from './payment-facts.ts';

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
    const known = await database.readOne(
      selectPayment({ ...tenantOf(request), id: request.paymentIntentId }),
    );
    if (!known?.sale_id) return null;
    saleId = known.sale_id;
  }
  const call = { ...callFor(context), signal: context.signal };
  try {
    const { sale } = await funds.getSale({ merchantId, environment, saleId }, call);
    return sale?.grossAmountMinor ?? null;
  } catch (error) {
    if (errorInfoOf(error)?.reason === 'SALE_NOT_FOUND') return null;
    throw error;
  }
}

/** A lost dispute without an amount, of a payment of which nothing was known, took all that was left of its sale. */
const COMMITTED = `
select cases.minor::text as committed_minor, lost.minor::text as lost_minor, cases.others + lost.minor > 0 as is_shared
  from (select coalesce(sum(amount_minor), 0) as minor,
               coalesce(sum(amount_minor) filter (where payment_intent_id <> :paymentIntentId), 0) as others
          from refunds.refund_case
         where merchant_id = :merchantId and environment = :environment and sale_id = :saleId
           and status not in ('FAILED', 'CANCELED', 'REJECTED')) as cases
 cross join (
   select coalesce(sum(coalesce(lost_minor, amount_minor, 9007199254740991)), 0) as minor
     from refunds.dispute
    where merchant_id = :merchantId and environment = :environment and sale_id = :saleId
      and payment_intent_id <> :paymentIntentId and outcome = 'LOST') as lost`;

/**
 * What the refunds of a payment's sale have used up, of all the payments that name it. Locks the sale until the transaction
 * ends: cases of different payments that are opened at the same time must count each other. The payment is locked before.
 */
export async function lockRefundedSale(
  tx: TenantTransaction,
  paymentIntentId: string,
  saleId: string,
  amountMinor: bigint | null,
): Promise<RefundedSale> {
  await tx.awaitNamedLock(`sale ${saleId}`);
  const [row] = await tx.execute<{ committed_minor: string; lost_minor: string; is_shared: boolean }>(
    COMMITTED,
    {
      paymentIntentId,
      saleId,
    },
  );
  return {
    amountMinor,
    committedMinor: BigInt(row!.committed_minor),
    lostElsewhereMinor: BigInt(row!.lost_minor),
    isShared: row!.is_shared,
  };
}
