import { atLeastZero, least, sumOf } from '../../platform/amounts.ts';
import { failedPrecondition } from '../../platform/errors.ts';
import { later } from '../../platform/timestamps.ts';
import { type Dispute, type DisputeOutcome, disputedAmount, requireOpen } from './dispute.ts';

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

/** How a dispute ended, with its amount in centavos if it was opened without a sale and an amount. */
interface DisputeEnd {
  readonly outcome: Exclude<DisputeOutcome, 'REVERSED'>;
  readonly amountMinor: bigint | undefined;
}

/**
 * Closes an open dispute. If it was opened before its payment's facts were known, it gets the payment's sale now. One that
 * is lost has a sale or an amount, so that funds know what to deduct. DISPUTE_CLOSED, DISPUTE_AMOUNT_DIFFERS,
 * DISPUTE_EXCEEDS_PAYMENT, DISPUTE_AMOUNT_UNKNOWN.
 */
export function endDispute(
  dispute: Dispute,
  { outcome, amountMinor: namedMinor }: DisputeEnd,
  payment: DisputedPayment,
  at: Date,
): Pick<Dispute, 'saleId' | 'amountMinor' | 'outcome' | 'lostMinor'> & { readonly closedAt: Date } {
  requireOpen(dispute);
  const { openedAt, respondedAt, responseSubmittedAt } = dispute;
  const saleId = dispute.saleId ?? payment.saleId;
  const amountMinor = endedAmount(dispute, namedMinor, payment);
  if (outcome === 'LOST' && saleId === null && amountMinor === null) {
    const message = 'the dispute has neither a sale nor an amount: set the amount that was lost';
    throw failedPrecondition('DISPUTE_AMOUNT_UNKNOWN', message, { field: 'amount_minor' });
  }
  const closedAt = later(responseSubmittedAt ?? respondedAt ?? openedAt, at);
  const lostMinor = outcome === 'LOST' ? lostAmount({ saleId, amountMinor }, payment) : null;
  return { saleId, amountMinor, outcome, closedAt, lostMinor };
}

/**
 * Records that the loss of a dispute was reversed, so that it deducts nothing. A later dispute of the payment, such as a
 * second chargeback, is separate. DISPUTE_NOT_LOST, DISPUTE_REVERSED.
 */
export function recordReversal(
  { outcome, closedAt, reversedAt }: Dispute,
  at: Date,
): { readonly outcome: 'REVERSED'; readonly reversedAt: Date } {
  if (reversedAt !== null) {
    throw failedPrecondition('DISPUTE_REVERSED', 'the loss of the dispute is already reversed', {
      reversedAt: reversedAt.toISOString(),
    });
  }
  if (outcome !== 'LOST' || closedAt === null) {
    const state = outcome ?? 'OPEN';
    throw failedPrecondition('DISPUTE_NOT_LOST', `only a lost dispute can be reversed: it is ${state}`, {
      state,
    });
  }
  return { outcome: 'REVERSED', reversedAt: later(closedAt, at) };
}

/** A dispute can get an amount at its end only if nothing is held for it: it was opened without a sale and an amount. */
function endedAmount(
  { saleId, amountMinor }: Dispute,
  namedMinor: bigint | undefined,
  payment: Pick<DisputedPayment, 'paidAmountMinor'>,
): bigint | null {
  if (namedMinor === undefined || namedMinor === amountMinor) return amountMinor;
  if (saleId === null && amountMinor === null) return disputedAmount(payment, namedMinor);
  if (amountMinor === null) {
    throw failedPrecondition(
      'DISPUTE_AMOUNT_DIFFERS',
      'the dispute is for the rest of its sale: omit the amount',
    );
  }
  throw failedPrecondition('DISPUTE_AMOUNT_DIFFERS', 'the dispute was opened for another amount', {
    amountMinor: String(amountMinor),
  });
}

/**
 * The sale whose funds a dispute of the payment holds: the payment's, unless another dispute was lost without it, before
 * the sale was known or for another sale. Funds do not count that deduction against the sale, so the payment must limit
 * later disputes. Null if it does, and without a sale.
 */
export function heldSaleOf(
  { saleId }: Pick<DisputedPayment, 'saleId'>,
  disputes: readonly Pick<Dispute, 'saleId' | 'outcome'>[],
): string | null {
  const isLostWithoutIt = disputes.some((other) => isLost(other) && other.saleId !== saleId);
  return isLostWithoutIt ? null : saleId;
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
function lostAmount(
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

export const isLost = ({ outcome }: Pick<Dispute, 'outcome'>) => outcome === 'LOST';

/**
 * What disputes lost without the payment's sale have returned to the customer. One of unknown amount counts with the paid
 * amount: it may have returned everything that refunds had not.
 */
export function returnedByDisputes(
  { saleId, paidAmountMinor }: Pick<DisputedPayment, 'saleId' | 'paidAmountMinor'>,
  lost: readonly Pick<Dispute, 'saleId' | 'amountMinor' | 'lostMinor'>[],
): bigint {
  const withoutSale = lost.filter((dispute) => dispute.saleId === null || dispute.saleId !== saleId);
  return sumOf(
    withoutSale,
    ({ lostMinor, amountMinor }) => lostMinor ?? amountMinor ?? paidAmountMinor ?? 0n,
  );
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
