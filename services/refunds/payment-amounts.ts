import { atLeastZero, greatest, least } from '../platform/amounts.ts';
import type { Dispute } from './dispute.ts';
import { undisputedMinor } from './lost-amount.ts';

/** What is known of a payment that determines how much of it can be refunded. Amounts in centavos. */
export interface RefundedPayment {
  readonly paidAmountMinor: bigint;
  /** The sum of its SUCCEEDED refunds. */
  readonly refundedMinor: bigint;
  /** The sum of its open refund cases, and of those among them that a dispute blocks. */
  readonly inProgressMinor: bigint;
  readonly blockedMinor: bigint;
  /** The part of its sale left for refunds of all payments that name the sale; null if that is not known. */
  readonly saleRestMinor: bigint | null;
}

type PaymentDispute = Pick<Dispute, 'amountMinor' | 'closedAt' | 'outcome' | 'lostMinor'>;

/**
 * The amount of a payment lost in disputes, and the amount for which a new refund case can be opened without being
 * blocked by a dispute: nothing while one is open, and no more than its sale has left. In centavos.
 */
export function paymentAmounts(
  { paidAmountMinor, refundedMinor, inProgressMinor, blockedMinor, saleRestMinor }: RefundedPayment,
  disputes: readonly PaymentDispute[],
): { readonly lostMinor: bigint; readonly refundableMinor: bigint } {
  const closed = disputes.filter(({ closedAt }) => closedAt !== null);
  // A lost dispute took no more than refunds had left.
  const lostMinor = atLeastZero(
    paidAmountMinor - greatest(undisputedMinor(paidAmountMinor, closed), refundedMinor),
  );
  const ofPaymentMinor = paidAmountMinor - refundedMinor - inProgressMinor;
  // A case that a dispute blocks waits for what the others leave.
  const unblockedMinor = inProgressMinor - blockedMinor;
  const besideDisputesMinor = undisputedMinor(paidAmountMinor, disputes) - refundedMinor - unblockedMinor;
  const ofSaleMinor = saleRestMinor ?? ofPaymentMinor;
  return { lostMinor, refundableMinor: atLeastZero(least(ofPaymentMinor, besideDisputesMinor, ofSaleMinor)) };
}
