import { failedPrecondition } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import { type Dispute, type DisputeOutcome, disputedAmount, requireOpen } from './dispute.ts';
import { type DisputedPayment, lostAmount } from './lost-amount.ts';

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
 * Records that the loss of a dispute was reversed, so that it deducts nothing. A later dispute of the payment, such as a second
 * chargeback, is separate. DISPUTE_NOT_LOST, DISPUTE_REVERSED.
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
