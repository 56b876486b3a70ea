import * as disputeHold from '../contracts/refunds/dispute-hold.contract.ts';
import { atLeastZero } from '../platform/amounts.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { failedPrecondition } from '../platform/errors.ts';
import type { DisputeOutcome } from './dispute.ts';
import { type DisputedPayment, lostWithoutSale, undisputedMinor } from './lost-amount.ts';
import { DisputeEntity, type DisputeRow, type PaymentRow } from './refund-case.entity.ts';

/** How a dispute of a payment closes. */
interface Closing {
  readonly dispute: DisputeRow;
  readonly outcome: DisputeOutcome;
  /** What was captured of the dispute's sale, in centavos; null if it is not known. */
  readonly saleAmountMinor: bigint | null;
}

/**
 * The sale whose funds a dispute of the payment holds: the payment's, unless a dispute of the payment was lost without it, before
 * the sale was known or for another sale. Funds do not count that deduction against the sale, so the payment must limit
 * later disputes. Null if it does, and without a sale.
 */
export async function heldSaleOf(
  tx: TenantTransaction,
  { id: paymentIntentId, saleId }: Pick<PaymentRow, 'id' | 'saleId'>,
): Promise<string | null> {
  if (saleId === null) return null;
  const withoutSale = { $or: [{ saleId: null }, { saleId: { $ne: saleId } }] };
  const lost = await tx.findOne(DisputeEntity, { paymentIntentId, outcome: 'LOST', ...withoutSale });
  return lost === null ? saleId : null;
}

/** A locked payment, with what determines the lost amount of one of its disputes that closes. SALE_NOT_RECORDED. */
export async function disputedPaymentOf(
  tx: TenantTransaction,
  payment: PaymentRow,
  { dispute, outcome, saleAmountMinor }: Closing,
): Promise<DisputedPayment> {
  const { id, paidAmountMinor } = payment;
  const isLostWithoutAmount = outcome === 'LOST' && dispute.amountMinor === null;
  const unpaidOfSaleMinor =
    isLostWithoutAmount && paidAmountMinor === null
      ? await unpaidOfSale(tx, id, dispute.saleId, saleAmountMinor)
      : null;
  return {
    saleId: await heldSaleOf(tx, payment),
    paidAmountMinor,
    undisputedMinor: await leftByLostDisputes(tx, id, paidAmountMinor ?? unpaidOfSaleMinor),
    ...(await returnedOf(tx, payment)),
  };
}

/**
 * Deducts for lost disputes what could not be deducted before, after a refund of a payment without a sale was returned
 * or another lost dispute of it was reversed. The dispute that was lost first comes first. The payment is locked.
 * @param causeId the refund case or the dispute.
 */
export async function raiseLostDisputes(
  tx: TenantTransaction,
  payment: PaymentRow,
  causeId: string,
): Promise<void> {
  const disputes = await tx.lock(
    DisputeEntity,
    { paymentIntentId: payment.id, outcome: 'LOST', amountMinor: { $ne: null }, lostMinor: { $ne: null } },
    { orderBy: { closedAt: 'asc', id: 'asc' } },
  );
  for (const dispute of disputes) {
    const earlierMinor = dispute.lostMinor!;
    // The dispute's own deduction does not limit it.
    const returnedMinor = (await returnedOf(tx, payment)).returnedMinor - earlierMinor;
    const lostMinor = lostWithoutSale(dispute.amountMinor!, { ...payment, returnedMinor });
    if (lostMinor <= earlierMinor) continue;
    dispute.lostMinor = lostMinor;
    tx.logStep('more is deducted for a lost dispute', {
      disputeId: dispute.id,
      lostMinor: String(lostMinor),
    });
    await tx.command(disputeHold.raiseCommand({ ...tx.tenant, disputeId: dispute.id }, causeId));
  }
}

const RETURNED = `
select refunded.minor::text as refunded_minor, (refunded.minor + lost.minor)::text as returned_minor
  from (select coalesce(sum(amount_minor), 0) as minor from refunds.refund_case
         where merchant_id = :merchantId and environment = :environment and payment_intent_id = :paymentIntentId
           and status in ('PROCESSING', 'SUCCEEDED')) as refunded
 cross join (
   select coalesce(sum(coalesce(lost_minor, amount_minor, :paidAmountMinor::bigint)), 0) as minor
     from refunds.dispute
    where merchant_id = :merchantId and environment = :environment and payment_intent_id = :paymentIntentId
      and outcome = 'LOST' and (sale_id is null or sale_id is distinct from :saleId::uuid)) as lost`;

/** A lost dispute of unknown amount counts with the paid amount: it may have returned everything that refunds had not. */
async function returnedOf(
  tx: TenantTransaction,
  { id: paymentIntentId, saleId, paidAmountMinor }: PaymentRow,
): Promise<Pick<DisputedPayment, 'refundedMinor' | 'returnedMinor'>> {
  await tx.flush();
  const [row] = await tx.execute<{ refunded_minor: string; returned_minor: string }>(RETURNED, {
    paymentIntentId,
    saleId,
    paidAmountMinor,
  });
  return { refundedMinor: BigInt(row!.refunded_minor), returnedMinor: BigInt(row!.returned_minor) };
}

async function leftByLostDisputes(
  tx: TenantTransaction,
  paymentIntentId: string,
  paidAtMostMinor: bigint | null,
): Promise<bigint | null> {
  if (paidAtMostMinor === null) return null;
  return undisputedMinor(paidAtMostMinor, await tx.find(DisputeEntity, { paymentIntentId, outcome: 'LOST' }));
}

const PAID_ELSEWHERE = `
select sum(paid_amount_minor)::text as minor from refunds.payment
 where merchant_id = :merchantId and environment = :environment and id <> :paymentIntentId
   and id in (select payment_intent_id from refunds.refund_case
               where merchant_id = :merchantId and environment = :environment and sale_id = :saleId)`;

/**
 * The most that a payment of which nothing is known can have paid of a sale: the captured amount less what the sale's
 * other payments have paid. Of a sale of 10,000 centavos of which another payment has paid 4,000, that is 6,000. Null if
 * no other payment is known: it may have paid all of it. SALE_NOT_RECORDED.
 */
async function unpaidOfSale(
  tx: TenantTransaction,
  paymentIntentId: string,
  saleId: string | null,
  saleAmountMinor: bigint | null,
): Promise<bigint | null> {
  if (saleId === null) return null;
  const [row] = await tx.execute<{ minor: string | null }>(PAID_ELSEWHERE, { paymentIntentId, saleId });
  if (row!.minor === null) return null;
  if (saleAmountMinor === null) {
    const message =
      'other payments have paid part of the sale: the share of this one is unknown until the sale is recorded';
    throw failedPrecondition('SALE_NOT_RECORDED', message);
  }
  return atLeastZero(saleAmountMinor - BigInt(row!.minor));
}
