import { atLeastZero, least } from '../platform/amounts.ts';
import type { Dispute } from './dispute.ts';

/** A payment of which a dispute closes, and what refunds and other disputes have used of it. Amounts in centavos. */
export interface DisputedPayment {
  /** The sale of a dispute that was opened without one, if it is known by now. */
  readonly saleId: string | null;
  /** Null until the payment's first refund case. */
  readonly paidAmountMinor: bigint | null;
  /** What refunds have returned to the customer. */
  readonly refundedMinor: bigint;
  /** What refunds, and disputes lost without the payment's sale, have returned to the customer. */
  readonly returnedMinor: bigint;
  /**
   * What lost disputes have left for refunds: of the paid amount or, while that is unknown, of what other payments have not
   * paid of the sale. Null if that is unknown, too.
   */
  readonly undisputedMinor: bigint | null;
}

/**
 * The lost amount of a dispute, in centavos: what is deducted for it, if its own amount does not say so. Of a payment of
 * 10,000, of which 3,000 were refunded, a lost dispute takes:
 *
 * - without an amount, 7,000. That is final: if the provider returns the refund, the merchant can make it again;
 * - of 9,000 but without a sale, 7,000. If the refund is returned, the other 2,000 are deducted (`raiseLostDisputes`);
 * - of 9,000 of a sale, at most what funds find to be left of the sale. Its lost amount is null.
 *
 * Null, too, without an amount if nothing is known of the payment: then it takes what funds find to be left of the sale.
 */
export function lostAmount(
  { saleId, amountMinor }: Pick<Dispute, 'saleId' | 'amountMinor'>,
  payment: DisputedPayment,
): bigint | null {
  if (amountMinor === null) return lostWithoutAmount(payment);
  return saleId === null ? lostWithoutSale(amountMinor, payment) : null;
}

function lostWithoutAmount({ undisputedMinor: leftMinor, refundedMinor }: DisputedPayment): bigint | null {
  return leftMinor === null ? null : atLeastZero(leftMinor - refundedMinor);
}

/** At most the rest of the payment, if that is known: the customer cannot get the same money twice. */
export function lostWithoutSale(
  amountMinor: bigint,
  { paidAmountMinor, returnedMinor }: Pick<DisputedPayment, 'paidAmountMinor' | 'returnedMinor'>,
): bigint {
  if (paidAmountMinor === null) return amountMinor;
  return least(amountMinor, atLeastZero(paidAmountMinor - returnedMinor));
}

/**
 * The part of a payment that its disputes leave for refunds, in centavos: nothing while one is open, otherwise the paid
 * amount less the lost disputes: 6,000 of 10,000 after losing one of 4,000.
 */
export function undisputedMinor(
  paidAmountMinor: bigint,
  disputes: readonly Pick<Dispute, 'amountMinor' | 'closedAt' | 'outcome' | 'lostMinor'>[],
): bigint {
  let leftMinor = paidAmountMinor;
  for (const { closedAt, outcome, amountMinor, lostMinor } of disputes) {
    if (closedAt === null) return 0n;
    // Its amount, even if it was lost for less: it takes the rest once refunds are returned. One without any known amount
    // took all that was left.
    if (outcome === 'LOST') leftMinor -= amountMinor ?? lostMinor ?? paidAmountMinor;
  }
  return atLeastZero(leftMinor);
}
