import { failedPrecondition, notFound } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import { type PaymentFacts, requireSameFacts } from './payment-facts.ts';

/** How a dispute ended for the merchant. */
export type DisputeOutcome = 'WON' | 'LOST';

/** What the rules decide about a dispute. */
export type Dispute = Readonly<{
  /** The sale whose funds it holds, where that is known. */
  saleId: string | null;
  openedAt: Date;
  closedAt: Date | null;
  outcome: DisputeOutcome | null;
}>;

/** What is known of a payment: nothing yet, as long as no refund case has named it. */
type KnownPayment = Omit<PaymentFacts, 'paidAmountMinor'> & { readonly paidAmountMinor: bigint | null };

/** The sale whose funds a dispute of the payment holds: the payment's, or the one named while nothing is known of it. */
export function disputedSale(payment: KnownPayment, named: string | undefined): string | null {
  const { paidAmountMinor } = payment;
  if (paidAmountMinor === null) return named ?? null;
  requireSameFacts({ ...payment, paidAmountMinor }, { saleId: named });
  return payment.saleId;
}

/**
 * A dispute ends, once. One that was opened before its payment was known takes the sale that is known by now.
 * DISPUTE_CLOSED.
 */
export function endDispute(
  dispute: Dispute,
  outcome: DisputeOutcome,
  payment: Pick<KnownPayment, 'saleId'>,
  at: Date,
): Dispute & { closedAt: Date } {
  if (dispute.closedAt !== null) {
    throw failedPrecondition('DISPUTE_CLOSED', 'the dispute is closed', { state: 'CLOSED' });
  }
  const { openedAt } = dispute;
  return { saleId: dispute.saleId ?? payment.saleId, openedAt, closedAt: later(openedAt, at), outcome };
}

/** What every RPC answers for a dispute that this merchant does not have in this environment. */
export const disputeNotFound = () => notFound('DISPUTE_NOT_FOUND', 'there is no such dispute');
