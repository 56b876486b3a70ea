import { atLeastZero, greatest, least } from '../../platform/amounts.ts';
import type { Dispute } from '../disputes/dispute.ts';
import { undisputedMinor } from '../disputes/dispute-outcome.ts';

/** The sums of a payment's refund cases that are open or succeeded. Amounts in centavos. */
export interface RefundSums {
  /** Of those that SUCCEEDED. */
  readonly refundedMinor: bigint;
  /** Of the open ones, and among them of those that are PROCESSING and of those that a dispute blocks. */
  readonly inProgressMinor: bigint;
  readonly processingMinor: bigint;
  readonly blockedMinor: bigint;
}

/** What refunds and disputes use of a payment. */
export interface PaymentUse extends RefundSums {
  /** All its disputes. Those that were won or reversed use nothing. */
  readonly disputes: readonly Pick<Dispute, 'amountMinor' | 'closedAt' | 'outcome' | 'lostMinor'>[];
}

/** What refunds that are open or succeeded use of a payment, in centavos. */
export const committedMinor = ({ refundedMinor, inProgressMinor }: RefundSums) =>
  refundedMinor + inProgressMinor;

/**
 * The part of a payment that its disputes, and the refunds that none of them blocks, leave for a new or a blocked refund.
 * In centavos; zero or less while a dispute is open.
 */
export function unclaimedMinor(paidAmountMinor: bigint, use: PaymentUse): bigint {
  return undisputedMinor(paidAmountMinor, use.disputes) - (committedMinor(use) - use.blockedMinor);
}

/**
 * The amount of a payment lost in disputes, and the amount for which a new refund case can be opened without being
 * blocked by a dispute: nothing while one is open, and no more than its sale has left. In centavos.
 * @param saleRestMinor the part of its sale left for refunds of all payments that name the sale; null if that is not known.
 */
export function paymentAmounts(
  paidAmountMinor: bigint,
  use: PaymentUse,
  saleRestMinor: bigint | null,
): { readonly lostMinor: bigint; readonly refundableMinor: bigint } {
  const closed = use.disputes.filter(({ closedAt }) => closedAt !== null);
  // A lost dispute took no more than refunds had left.
  const lostMinor = paidAmountMinor - greatest(undisputedMinor(paidAmountMinor, closed), use.refundedMinor);
  const uncommittedMinor = paidAmountMinor - committedMinor(use);
  const restMinor = least(
    uncommittedMinor,
    unclaimedMinor(paidAmountMinor, use),
    saleRestMinor ?? uncommittedMinor,
  );
  return { lostMinor: atLeastZero(lostMinor), refundableMinor: atLeastZero(restMinor) };
}
