import type { Refusal } from './refund-case.ts';

const DAY_MS = 86_400_000;

/** What the first refund case of a payment fixes about it. Amounts in centavos, times UTC. */
export type PaymentFacts = Readonly<{
  paidAmountMinor: number;
  paidAt: Date | null;
  refundWindowDays: number | null;
  saleId: string | null;
  orderId: string | null;
  invoiceId: string | null;
}>;

/**
 * Holds the facts a later case names against those its payment's first case fixed.
 * A fact the later case leaves out (undefined) is not different.
 * Refuses with PAYMENT_FACTS_DIFFER and the fact's name.
 */
export function checkPaymentFacts(fixed: PaymentFacts, named: Partial<PaymentFacts>): Refusal | null {
  for (const fact of Object.keys(named) as (keyof PaymentFacts)[]) {
    const value = named[fact];
    if (value !== undefined && !sameFact(value, fixed[fact])) {
      return { refused: 'PAYMENT_FACTS_DIFFER', metadata: { fact } };
    }
  }
  return null;
}

/** The moment the refund window closes (days of 24 hours), or null where the payment has none. */
export function refundWindowExpiresAt(facts: Pick<PaymentFacts, 'paidAt' | 'refundWindowDays'>): Date | null {
  if (facts.paidAt === null || facts.refundWindowDays === null) return null;
  return new Date(facts.paidAt.getTime() + facts.refundWindowDays * DAY_MS);
}

/**
 * Whether a refund of `amountMinor` may be requested of this payment at `at`, beside the
 * `committedMinor` that its open and succeeded refunds already take.
 * Refuses with PAID_AT_IN_FUTURE, REFUND_WINDOW_EXPIRED or REFUND_EXCEEDS_PAYMENT.
 */
export function checkRefundable(
  facts: PaymentFacts,
  amountMinor: number,
  committedMinor: number,
  at: Date,
): Refusal | null {
  if (facts.paidAt !== null && facts.paidAt > at) {
    return { refused: 'PAID_AT_IN_FUTURE', metadata: { paidAt: facts.paidAt.toISOString() } };
  }
  const expiresAt = refundWindowExpiresAt(facts);
  if (expiresAt !== null && at > expiresAt) {
    return { refused: 'REFUND_WINDOW_EXPIRED', metadata: { expiresAt: expiresAt.toISOString() } };
  }
  // Subtracting keeps within exact integers where adding might not.
  const refundableMinor = facts.paidAmountMinor - committedMinor;
  if (amountMinor > refundableMinor) {
    return {
      refused: 'REFUND_EXCEEDS_PAYMENT',
      metadata: { refundableAmountMinor: String(refundableMinor) },
    };
  }
  return null;
}

function sameFact(a: number | string | Date | null, b: number | string | Date | null): boolean {
  return a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b;
}
