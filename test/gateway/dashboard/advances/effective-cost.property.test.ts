import fc from 'fast-check';
import { expect, test } from 'vitest';
import { effectiveCost } from '../../../../gateway/dashboard/advances/effective-cost.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

test('is the rate of one installment to the basis point, and rises with the fee', () => {
  const oneYear = { netAmountMinor: 100_000n, installments: [{ amountMinor: 112_000n, days: 365 }] };
  expect(effectiveCost(oneYear).yearly).toBeCloseTo(0.12, 6);
  expect(effectiveCost(oneYear).monthly).toBeCloseTo(1.12 ** (1 / 12) - 1, 6);
  // 48.00 over 30, 60 and 90 days at 2.5 % a month: 46.80 + 45.60 + 44.40.
  const three = [30, 60, 90].map((days) => ({ amountMinor: 4_800n, days }));
  const { monthly, yearly } = effectiveCost({ netAmountMinor: 13_680n, installments: three });
  expect([monthly.toFixed(4), yearly.toFixed(3)]).toEqual(['0.0265', '0.368']);
});

test('discounts the installments to the net amount', () => {
  const installment = fc.record({
    amountMinor: fc.bigInt(100n, 10_000_000n),
    days: fc.integer({ min: 1, max: 720 }),
  });
  fc.assert(
    fc.property(
      fc.array(installment, { minLength: 1, maxLength: 24 }),
      fc.integer({ min: 1, max: 60 }),
      (all, percent) => {
        const sum = all.reduce((total, { amountMinor }) => total + amountMinor, 0n);
        const netAmountMinor = (sum * BigInt(100 - percent)) / 100n;
        const { monthly, yearly } = effectiveCost({ netAmountMinor, installments: all });
        fc.pre(Number.isFinite(yearly) && yearly < 1e9);
        expect((1 + monthly) ** 12 / (1 + yearly)).toBeCloseTo(1, 6);
        const worth = all.reduce(
          (total, { amountMinor, days }) => total + Number(amountMinor) / (1 + yearly) ** (days / 365),
          0,
        );
        expect(worth / Number(netAmountMinor)).toBeCloseTo(1, 6);
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});
