import { atLeastZero } from '../../platform/amounts.ts';
import { DAY_MS } from '../../platform/durations.ts';
import { failedPrecondition, invalidArgument } from '../../platform/errors.ts';

/** The facts of a payment, set by its first refund case. Amount in centavos. */
export type PaymentFacts = Readonly<{
  paidAmountMinor: bigint;
  paidAt: Date | null;
  refundWindowDays: number | null;
  /** The product that the refund window comes from. */
  productId: string | null;
  saleId: string | null;
  orderId: string | null;
  invoiceId: string | null;
}>;

/**
 * Throws if a later refund case or dispute contradicts the facts that an earlier one set; undefined facts are ignored.
 * PAYMENT_FACTS_DIFFER, with the fact's name.
 */
export function requireSameFacts(
  fixed: { readonly [Name in keyof PaymentFacts]: PaymentFacts[Name] | null },
  named: Partial<PaymentFacts>,
): void {
  for (const fact of Object.keys(named) as (keyof PaymentFacts)[]) {
    const value = named[fact];
    if (value === undefined || sameFact(value, fixed[fact])) continue;
    throw failedPrecondition(
      'PAYMENT_FACTS_DIFFER',
      `${fact} differs from the payment's first refund case or dispute`,
      { fact },
    );
  }
}

/** When the refund window ends (days of 24 hours), or null if the payment has none. */
export function refundWindowExpiresAt(facts: Pick<PaymentFacts, 'paidAt' | 'refundWindowDays'>): Date | null {
  if (facts.paidAt === null || facts.refundWindowDays === null) return null;
  return new Date(facts.paidAt.getTime() + facts.refundWindowDays * DAY_MS);
}

/**
 * Throws unless `amountMinor` of this payment can be refunded at `at`, given `committedMinor`, the sum of its open and
 * succeeded refunds. PAID_AT_IN_FUTURE, REFUND_WINDOW_EXPIRED, REFUND_EXCEEDS_PAYMENT.
 */
export function requireRefundable(
  facts: PaymentFacts,
  amountMinor: bigint,
  committedMinor: bigint,
  at: Date,
): void {
  if (facts.paidAt !== null && facts.paidAt > at) {
    throw invalidArgument('PAID_AT_IN_FUTURE', 'paid_at: must not be later than the request', {
      field: 'paid_at',
    });
  }
  const end = refundWindowExpiresAt(facts);
  if (end !== null && at > end) {
    const expiresAt = end.toISOString();
    throw failedPrecondition('REFUND_WINDOW_EXPIRED', `the refund window ended at ${expiresAt}`, {
      expiresAt,
    });
  }
  const refundableMinor = facts.paidAmountMinor - committedMinor;
  if (amountMinor > refundableMinor) {
    throw failedPrecondition(
      'REFUND_EXCEEDS_PAYMENT',
      `only ${refundableMinor} centavos can still be refunded`,
      { refundableAmountMinor: String(refundableMinor) },
    );
  }
}

/** A sale that a payment names, with what refunds that are open or succeeded, and lost disputes, use of it. In centavos. */
export interface RefundedSale {
  /** What was captured; null until it is known. */
  readonly amountMinor: bigint | null;
  /** By all its payments. */
  readonly usedMinor: bigint;
  /** By its other payments. */
  readonly usedElsewhereMinor: bigint;
}

/**
 * The part of a sale that is left for refunds of a payment. Null if that is not known, or if the payment's own amount is the
 * limit: no other payment uses the sale, or the others leave all that was paid. Otherwise a refund that a lost dispute blocks
 * counts, too, because it can be paid once that dispute is reversed.
 */
export function saleRestMinor(
  { amountMinor, usedMinor, usedElsewhereMinor }: RefundedSale,
  paidAmountMinor: bigint,
): bigint | null {
  if (amountMinor === null || usedElsewhereMinor === 0n) return null;
  if (paidAmountMinor + usedElsewhereMinor <= amountMinor) return null;
  return atLeastZero(amountMinor - usedMinor);
}

/**
 * Throws unless the sale has `amountMinor` left: several payments can name one sale, and together their refunds never exceed
 * it. A sale that is not recorded yet limits only what is debited. REFUND_EXCEEDS_SALE.
 */
export function requireLeftOfSale(
  sale: RefundedSale,
  { paidAmountMinor }: Pick<PaymentFacts, 'paidAmountMinor'>,
  amountMinor: bigint,
): void {
  const restMinor = saleRestMinor(sale, paidAmountMinor);
  if (restMinor === null || amountMinor <= restMinor) return;
  throw failedPrecondition('REFUND_EXCEEDS_SALE', `only ${restMinor} centavos are left of the sale`, {
    refundableAmountMinor: String(restMinor),
  });
}

type Fact = PaymentFacts[keyof PaymentFacts] | null;

function sameFact(a: Fact, b: Fact): boolean {
  return a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : a === b;
}
