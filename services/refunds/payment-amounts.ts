import { type Dispute, undisputedMinor } from './dispute.ts';

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
  const lostMinor = least(
    paidAmountMinor - undisputedMinor(paidAmountMinor, closed),
    // A lost dispute took no more than refunds had left.
    paidAmountMinor - refundedMinor,
  );
  const leftMinor = least(
    paidAmountMinor - refundedMinor - inProgressMinor,
    undisputedMinor(paidAmountMinor, disputes) - refundedMinor - (inProgressMinor - blockedMinor),
  );
  return { lostMinor, refundableMinor: least(leftMinor, saleRestMinor ?? leftMinor) };
}

function least(one: bigint, other: bigint): bigint {
  const minor = one < other ? one : other;
  return minor > 0n ? minor : 0n;
}
