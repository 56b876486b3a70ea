import { DAY_MS } from '../../platform/durations.ts';
import { failedPrecondition, invalidArgument, notFound } from '../../platform/errors.ts';
import { later } from '../../platform/timestamps.ts';
import { type PaymentFacts, requireSameFacts } from '../payments/payment-facts.ts';

/** The outcome of a dispute for the merchant: REVERSED if it was lost, and the loss was reversed later, as on appeal. */
export type DisputeOutcome = 'WON' | 'LOST' | 'REVERSED';

/** Why the customer disputes a payment. */
export type DisputeReason =
  | 'GENERAL'
  | 'FRAUDULENT'
  | 'UNRECOGNIZED'
  | 'DUPLICATE'
  | 'PRODUCT_NOT_RECEIVED'
  | 'PRODUCT_UNACCEPTABLE'
  | 'SUBSCRIPTION_CANCELED'
  | 'CREDIT_NOT_PROCESSED';

/** The fields of a dispute that the rules read and change. */
export type Dispute = Readonly<{
  /** The sale whose funds it holds, if known. */
  saleId: string | null;
  /** In centavos; null for the rest of the sale. */
  amountMinor: bigint | null;
  openedAt: Date;
  /** Until when the merchant can respond; null if they can until it is closed. */
  dueAt: Date | null;
  responseText: string | null;
  respondedAt: Date | null;
  /** When the response was submitted to the provider; null as long as that has not been recorded. */
  responseSubmittedAt: Date | null;
  closedAt: Date | null;
  outcome: DisputeOutcome | null;
  /** Its lost amount in centavos; null unless it was lost without an amount or without a sale. */
  lostMinor: bigint | null;
  /** When its loss was reversed. */
  reversedAt: Date | null;
}>;

/** The due date of a dispute that opens at a time. DUE_DATE_BEFORE_OPENING. */
export function dueDateOf(dueAt: Date | undefined, openedAt: Date): Date | null {
  if (dueAt === undefined) return null;
  if (dueAt > openedAt) return dueAt;
  throw invalidArgument('DUE_DATE_BEFORE_OPENING', 'due_at: must be after the dispute opens', {
    field: 'due_at',
  });
}

/**
 * A payment's facts; `paidAmountMinor` is null and the facts are unknown until its first refund case is opened, except the
 * sale, if a dispute has named it.
 */
type KnownPayment = Omit<PaymentFacts, 'paidAmountMinor'> & { readonly paidAmountMinor: bigint | null };

/**
 * The sale whose funds a dispute of the payment holds: the payment's sale, which the request's becomes if nothing of the
 * payment is known yet. PAYMENT_FACTS_DIFFER.
 */
export function disputedSale(payment: KnownPayment, named: string | undefined): string | null {
  const { paidAmountMinor, saleId } = payment;
  if (paidAmountMinor === null && saleId === null) return named ?? null;
  requireSameFacts(payment, { saleId: named });
  return saleId;
}

/**
 * The amount in centavos that a dispute of the payment is about; null for the rest of the sale. DISPUTE_EXCEEDS_PAYMENT
 * for more than was paid, if that is known.
 */
export function disputedAmount(
  { paidAmountMinor }: Pick<KnownPayment, 'paidAmountMinor'>,
  amountMinor: bigint | undefined,
): bigint | null {
  if (amountMinor === undefined) return null;
  if (paidAmountMinor === null || amountMinor <= paidAmountMinor) return amountMinor;
  throw failedPrecondition('DISPUTE_EXCEEDS_PAYMENT', 'the disputed amount is more than was paid', {
    paidAmountMinor: String(paidAmountMinor),
  });
}

/**
 * Records the merchant's response to an open dispute, before its due date. It is final, because the reviewer acts on
 * it. DISPUTE_CLOSED, DISPUTE_RESPONDED, DISPUTE_RESPONSE_OVERDUE.
 */
export function recordResponse(
  dispute: Dispute,
  responseText: string,
  at: Date,
): { responseText: string; respondedAt: Date } {
  requireAwaitingResponse(dispute, at);
  return { responseText, respondedAt: later(dispute.openedAt, at) };
}

/**
 * Records that the response to an open dispute has been submitted to the provider: once, whether or not it was in time.
 * DISPUTE_CLOSED, DISPUTE_NOT_RESPONDED, DISPUTE_RESPONSE_SUBMITTED.
 */
export function recordSubmission(dispute: Dispute, at: Date): { responseSubmittedAt: Date } {
  requireOpen(dispute);
  const { respondedAt, responseSubmittedAt } = dispute;
  if (respondedAt === null) {
    throw failedPrecondition('DISPUTE_NOT_RESPONDED', 'the merchant has not responded to the dispute');
  }
  if (responseSubmittedAt !== null) {
    throw failedPrecondition('DISPUTE_RESPONSE_SUBMITTED', 'the submission is already recorded', {
      submittedAt: responseSubmittedAt.toISOString(),
    });
  }
  return { responseSubmittedAt: later(respondedAt, at) };
}

/**
 * Requires a dispute to which the merchant can respond and add evidence: open, without a response, before its due date.
 * DISPUTE_CLOSED, DISPUTE_RESPONDED, DISPUTE_RESPONSE_OVERDUE.
 */
export function requireAwaitingResponse(dispute: Dispute, at: Date): void {
  requireOpen(dispute);
  const { respondedAt, dueAt } = dispute;
  if (respondedAt !== null) {
    throw failedPrecondition('DISPUTE_RESPONDED', 'the dispute already has a response', {
      respondedAt: respondedAt.toISOString(),
    });
  }
  if (dueAt === null || at < dueAt) return;
  throw failedPrecondition('DISPUTE_RESPONSE_OVERDUE', 'the due date for a response has passed', {
    dueAt: dueAt.toISOString(),
  });
}

/** DISPUTE_CLOSED. */
export function requireOpen({ closedAt }: Pick<Dispute, 'closedAt'>): void {
  if (closedAt === null) return;
  throw failedPrecondition('DISPUTE_CLOSED', 'the dispute is already closed', { state: 'CLOSED' });
}

/** NOT_FOUND (DISPUTE_NOT_FOUND): the merchant has no such dispute in this environment. */
export const disputeNotFound = () => notFound('DISPUTE_NOT_FOUND', 'the dispute does not exist');

/**
 * When the merchant is notified that a response is due: `noticeMs` before the due date, or halfway if that is less than
 * twice as far away; at once without a due date. Null for a dispute without one that is recorded more than a day after
 * its opening: importing old disputes must not mail people about each.
 */
export function dueNoticeAt(
  openedAt: Date,
  dueAt: Date | null,
  noticeMs: number,
  recordedAt: Date,
): Date | null {
  if (dueAt === null) return recordedAt.getTime() - openedAt.getTime() > DAY_MS ? null : openedAt;
  const halfMs = (dueAt.getTime() - openedAt.getTime()) / 2;
  return new Date(dueAt.getTime() - Math.min(noticeMs, halfMs));
}
