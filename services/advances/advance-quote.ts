import { advanceFeeMinor } from '../contracts/advances/advance-fee.ts';
import { MAX_AMOUNT_MINOR, sumOf } from '../platform/amounts.ts';
import { type CivilDate, daysBetween } from '../platform/civil-date.ts';
import { failedPrecondition } from '../platform/errors.ts';

/** A scheduled installment that an advance can cover, with its remaining amount. */
export interface AdvanceableInstallment {
  readonly id: string;
  readonly version: bigint;
  readonly date: CivilDate;
  readonly amountMinor: bigint;
}

export interface InstallmentQuote extends AdvanceableInstallment {
  readonly feeMinor: bigint;
  /** From the date of the quote to that of the installment. */
  readonly days: number;
}

export interface QuoteFigures {
  readonly installments: readonly InstallmentQuote[];
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  /** amount - fee, above 0. */
  readonly netMinor: bigint;
}

export interface QuoteTerms {
  readonly quotedOn: CivilDate;
  /** Basis points a month, simple interest. */
  readonly monthlyRateBps: number;
  /** Covers whole installments while their sum stays within this amount. */
  readonly maxAmountMinor?: bigint;
}

/**
 * Quotes the nearest installments. Leaves out those whose fee would consume them: advancing them would gain the
 * merchant nothing, or reduce what the others bring. FAILED_PRECONDITION (NOTHING_TO_ADVANCE) when none is left or
 * fits.
 */
export function quoteInstallments(
  installments: readonly AdvanceableInstallment[],
  terms: QuoteTerms,
): QuoteFigures {
  const worthwhile = installments
    .map((installment) => quoteInstallment(installment, terms))
    .filter(({ amountMinor, feeMinor }) => feeMinor < amountMinor);
  const covered = nearestWithin(worthwhile, terms.maxAmountMinor ?? MAX_AMOUNT_MINOR);
  const amountMinor = sumOf(covered, (installment) => installment.amountMinor);
  const feeMinor = sumOf(covered, (installment) => installment.feeMinor);
  const netMinor = amountMinor - feeMinor;
  if (covered.length === 0) {
    throw failedPrecondition(
      'NOTHING_TO_ADVANCE',
      'no installment can be advanced, or none within the bounds of the request',
    );
  }
  return { installments: covered, amountMinor, feeMinor, netMinor };
}

function quoteInstallment(
  installment: AdvanceableInstallment,
  { quotedOn, monthlyRateBps }: QuoteTerms,
): InstallmentQuote {
  const days = daysBetween(quotedOn, installment.date);
  return { ...installment, days, feeMinor: advanceFeeMinor(installment.amountMinor, monthlyRateBps, days) };
}

function nearestWithin(
  installments: readonly InstallmentQuote[],
  maxAmountMinor: bigint,
): InstallmentQuote[] {
  const nearestFirst = installments.toSorted((one, other) =>
    one.date + one.id < other.date + other.id ? -1 : 1,
  );
  let sum = 0n;
  const firstTooMany = nearestFirst.findIndex((installment) => {
    sum += installment.amountMinor;
    return sum > maxAmountMinor;
  });
  return firstTooMany === -1 ? nearestFirst : nearestFirst.slice(0, firstTooMany);
}
