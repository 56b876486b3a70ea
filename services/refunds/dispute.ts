import { failedPrecondition, notFound } from '../platform/errors.ts';
import { later } from '../platform/timestamps.ts';
import { type PaymentFacts, requireSameFacts } from './payment-facts.ts';

/** The outcome of a dispute for the merchant. */
export type DisputeOutcome = 'WON' | 'LOST';

/** The state of a dispute. */
export type Dispute = Readonly<{
  /** The sale whose funds it holds, if known. */
  saleId: string | null;
  openedAt: Date;
  closedAt: Date | null;
  outcome: DisputeOutcome | null;
}>;

/** A payment's facts; `paidAmountMinor` is null and the facts are unknown until its first refund case is opened. */
type KnownPayment = Omit<PaymentFacts, 'paidAmountMinor'> & { readonly paidAmountMinor: bigint | null };

/**
 * The sale whose funds a dispute of the payment holds: the payment's sale or, until its facts are known, the one in the
 * request. PAYMENT_FACTS_DIFFER.
 */
export function disputedSale(payment: KnownPayment, named: string | undefined): string | null {
  const { paidAmountMinor } = payment;
  if (paidAmountMinor === null) return named ?? null;
  requireSameFacts({ ...payment, paidAmountMinor }, { saleId: named });
  return payment.saleId;
}

/**
 * Closes an open dispute. If it was opened before its payment's facts were known, it gets the payment's sale now.
 * DISPUTE_CLOSED.
 */
export function endDispute(
  dispute: Dispute,
  outcome: DisputeOutcome,
  payment: Pick<KnownPayment, 'saleId'>,
  at: Date,
): Dispute & { closedAt: Date } {
  if (dispute.closedAt !== null) {
    throw failedPrecondition('DISPUTE_CLOSED', 'the dispute is already closed', { state: 'CLOSED' });
  }
  const { openedAt } = dispute;
  return { saleId: dispute.saleId ?? payment.saleId, openedAt, closedAt: later(openedAt, at), outcome };
}

/** NOT_FOUND (DISPUTE_NOT_FOUND): the merchant has no such dispute in this environment. */
export const disputeNotFound = () => notFound('DISPUTE_NOT_FOUND', 'there is no such dispute');
