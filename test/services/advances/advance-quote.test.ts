import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AdvanceableInstallment, quoteInstallments } from '../../../services/advances/advance-quote.ts';
import { advanceFeeMinor } from '../../../services/contracts/advances/advance-fee.ts';
import { addDays, daysBetween } from '../../../services/platform/civil-date.ts';
import { DomainError } from '../../../services/platform/errors.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const TODAY = '2026-11-21';
const RATE = { quotedOn: TODAY, monthlyRateBps: 250 };

test('half a cent of fee is rounded up, less is rounded down', () => {
  // 60 centavos at 2.5 % a month over 10 days: half a centavo.
  expect(advanceFeeMinor(60n, 250, 10)).toBe(1n);
  expect(advanceFeeMinor(59n, 250, 10)).toBe(0n);
  expect(advanceFeeMinor(61n, 250, 10)).toBe(1n);
});

test('there is no quote when nothing fits or the fee would consume the amount', () => {
  const nothing = expect.objectContaining({ kind: 'FAILED_PRECONDITION', reason: 'NOTHING_TO_ADVANCE' });
  expect(() => quoteInstallments([], RATE)).toThrow(nothing);
  const tooLarge = [installment('a', 30, 100n)];
  expect(() => quoteInstallments(tooLarge, { ...RATE, maxAmountMinor: 99n })).toThrow(nothing);
  expect(() => quoteInstallments([installment('a', 1200, 100n)], RATE)).toThrow(nothing);
  expect(quoteInstallments([installment('a', 1199, 100n)], { ...RATE, monthlyRateBps: 247 }).netMinor).toBe(
    1n,
  );
});

test('an installment whose fee would consume it is not covered, and does not reduce the others', () => {
  // At 2.5 % a month, the fee reaches the amount after 1,200 days.
  const near = installment('a', 30, 10_000n);
  const far = [1_199, 1_200, 2_970].map((days) => installment(`b${days}`, days, 10_000n));
  const quote = quoteInstallments([...far, near], { ...RATE, maxAmountMinor: 20_000n });
  expect(quote.installments.map(({ id }) => id)).toEqual(['a', 'b1199']);
  expect(quote).toMatchObject({ amountMinor: 20_000n, feeMinor: 10_242n, netMinor: 9_758n });
  const long = Array.from({ length: 99 }, (_, index) => installment(`c${index}`, 30 * (index + 1), 10_000n));
  expect(quoteInstallments(long, RATE).installments).toHaveLength(39);
});

test('fees are the exact fractions rounded to the nearest cent, up to the largest amounts', () => {
  const amounts = fc.bigInt(1n, 9_007_199_254_740_991n);
  fc.assert(
    fc.property(
      amounts,
      fc.integer({ min: 0, max: 10_000 }),
      fc.integer({ min: 1, max: 3000 }),
      (amount, bps, days) => {
        const doubledError =
          2n * (advanceFeeMinor(amount, bps, days) * 300_000n - amount * BigInt(bps * days));
        expect(doubledError > -300_000n && doubledError <= 300_000n).toBe(true);
      },
    ),
    { numRuns: propertyRuns(1000) },
  );
});

test('a quote sums its installments, keeps net = amount - fee above 0 and stays an exact JSON number', () => {
  const installments = fc.array(
    fc.tuple(
      fc.integer({ min: 1, max: 900 }),
      fc.oneof(fc.bigInt(1n, 10_000n), fc.bigInt(1n, 9_007_199_254_740_991n)),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(installments, fc.integer({ min: 0, max: 1000 }), (given, monthlyRateBps) => {
      const installments = given.map(([days, amount], index) => installment(`p${index}`, days, amount));
      const quote = quoteIfAny(installments, { quotedOn: TODAY, monthlyRateBps });
      fc.pre(quote !== undefined);
      expect(quote.amountMinor).toBe(
        quote.installments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      );
      expect(quote.feeMinor).toBe(quote.installments.reduce((sum, { feeMinor }) => sum + feeMinor, 0n));
      expect(quote.netMinor).toBe(quote.amountMinor - quote.feeMinor);
      expect(quote.netMinor > 0n && quote.amountMinor <= 9_007_199_254_740_991n).toBe(true);
      for (const { date, days, amountMinor, feeMinor } of quote.installments) {
        expect(daysBetween(TODAY, date)).toBe(days);
        expect(feeMinor < amountMinor).toBe(true);
      }
    }),
    { numRuns: propertyRuns(1000) },
  );
});

function quoteIfAny(...quoted: Parameters<typeof quoteInstallments>) {
  try {
    return quoteInstallments(...quoted);
  } catch (error) {
    if (error instanceof DomainError && error.reason === 'NOTHING_TO_ADVANCE') return undefined;
    throw error;
  }
}

function installment(id: string, days: number, amountMinor: bigint): AdvanceableInstallment {
  return { id, version: 1n, date: addDays(TODAY, days), amountMinor };
}
