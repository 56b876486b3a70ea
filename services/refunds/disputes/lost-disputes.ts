import * as disputeHold from '../../contracts/refunds/dispute-hold.contract.ts';
import { atLeastZero } from '../../platform/amounts.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import { DisputeEntity, type DisputeRow, type PaymentRow } from '../refund-case.entity.ts';
import { paymentUseOf } from '../refund-case-store.ts';
import type { DisputeOutcome } from './dispute.ts';
import {
  type DisputedPayment,
  heldSaleOf,
  isLost,
  lostWithoutSale,
  returnedByDisputes,
  undisputedMinor,
} from './dispute-outcome.ts';

/** How a dispute of a payment closes. */
interface Closing {
  readonly dispute: DisputeRow;
  readonly outcome: DisputeOutcome;
  /** The amount that the dispute gets at its end, if any. */
  readonly amountMinor: bigint | undefined;
  /** What was captured of the dispute's sale or, without one, of its payment's, in centavos; null if it is not known. */
  readonly saleAmountMinor: bigint | null;
}

/** A locked payment, with what determines the lost amount of one of its disputes that closes. SALE_NOT_RECORDED. */
export async function disputedPaymentOf(
  tx: TenantTransaction,
  payment: PaymentRow,
  { dispute, outcome, amountMinor, saleAmountMinor }: Closing,
): Promise<DisputedPayment> {
  const { id, paidAmountMinor } = payment;
  const { refundedMinor, processingMinor, disputes } = await paymentUseOf(tx, id);
  const lost = disputes.filter(isLost);
  const saleId = heldSaleOf(payment, lost);
  const isLostWithoutAmount = outcome === 'LOST' && dispute.amountMinor === null && amountMinor === undefined;
  const unpaidOfSaleMinor =
    isLostWithoutAmount && paidAmountMinor === null
      ? await unpaidOfSale(tx, id, dispute.saleId ?? saleId, saleAmountMinor)
      : null;
  const paidAtMostMinor = paidAmountMinor ?? unpaidOfSaleMinor;
  return {
    saleId,
    paidAmountMinor,
    undisputedMinor: paidAtMostMinor === null ? null : undisputedMinor(paidAtMostMinor, lost),
    refundedMinor: refundedMinor + processingMinor,
    returnedMinor: refundedMinor + processingMinor + returnedByDisputes(payment, lost),
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
  const use = await paymentUseOf(tx, payment.id);
  for (const dispute of disputes) {
    const earlierMinor = dispute.lostMinor!;
    // The dispute's own deduction does not limit it.
    const others = use.disputes.filter((other) => isLost(other) && other.id !== dispute.id);
    const returnedMinor = use.refundedMinor + use.processingMinor + returnedByDisputes(payment, others);
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
