import * as disputeHold from '../contracts/refunds/dispute-hold.contract.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { failedPrecondition } from '../platform/errors.ts';
import { type EndedPayment, lostAmount, undisputedMinor } from './dispute.ts';
import { DisputeEntity, type PaymentRow } from './refund-case.entity.ts';

type Payment = Pick<PaymentRow, 'id' | 'saleId' | 'paidAmountMinor'>;

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

/**
 * The amounts of a payment that refunds, and disputes lost without the payment's sale, have returned to the customer. A
 * lost dispute of unknown amount may have returned everything that refunds had not.
 */
export async function returnedOf(
  tx: TenantTransaction,
  { id: paymentIntentId, saleId, paidAmountMinor }: Payment,
): Promise<Pick<EndedPayment, 'refundedMinor' | 'returnedMinor'>> {
  await tx.flush();
  const [row] = await tx.execute<{ refunded_minor: string; returned_minor: string }>(RETURNED, {
    paymentIntentId,
    saleId,
    paidAmountMinor,
  });
  return { refundedMinor: BigInt(row!.refunded_minor), returnedMinor: BigInt(row!.returned_minor) };
}

/**
 * The part of a payment that its lost disputes leave for refunds; null while the paid amount is unknown and nothing
 * bounds it.
 */
export async function leftByLostDisputes(
  tx: TenantTransaction,
  { id: paymentIntentId, paidAmountMinor }: Pick<Payment, 'id' | 'paidAmountMinor'>,
): Promise<bigint | null> {
  if (paidAmountMinor === null) return null;
  return undisputedMinor(paidAmountMinor, await tx.find(DisputeEntity, { paymentIntentId, outcome: 'LOST' }));
}

const PAID_ELSEWHERE = `
select sum(paid_amount_minor)::text as minor from refunds.payment
 where merchant_id = :merchantId and environment = :environment and id <> :paymentIntentId
   and id in (select payment_intent_id from refunds.refund_case
               where merchant_id = :merchantId and environment = :environment and sale_id = :saleId)`;

/**
 * The most that a payment of which nothing is known can have paid of a sale: the captured amount less what the sale's
 * other payments have paid. Null if no other payment is known: it may have paid all of it. SALE_NOT_RECORDED.
 */
export async function shareOfSale(
  tx: TenantTransaction,
  { id: paymentIntentId, saleId }: Payment,
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
  const shareMinor = saleAmountMinor - BigInt(row!.minor);
  return shareMinor > 0n ? shareMinor : 0n;
}

/**
 * Whether a dispute of the payment was lost without this sale: before the sale was known, or for another one. Funds do
 * not count its deduction against the sale, so the payment limits later disputes instead.
 */
export async function wasLostElsewhere(
  tx: TenantTransaction,
  { id: paymentIntentId, saleId }: Payment,
): Promise<boolean> {
  const elsewhere = { $or: [{ saleId: null }, { saleId: { $ne: saleId } }] };
  return (await tx.findOne(DisputeEntity, { paymentIntentId, outcome: 'LOST', ...elsewhere })) !== null;
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
    const takenMinor = dispute.lostMinor!;
    const others = (await returnedOf(tx, payment)).returnedMinor - takenMinor;
    const lostMinor = lostAmount(dispute.amountMinor!, { ...payment, returnedMinor: others });
    if (lostMinor <= takenMinor) continue;
    dispute.lostMinor = lostMinor;
    tx.logStep('more is deducted for a lost dispute', {
      disputeId: dispute.id,
      lostMinor: String(lostMinor),
    });
    await tx.command(disputeHold.raiseCommand({ ...tx.tenant, disputeId: dispute.id }, causeId));
  }
}
