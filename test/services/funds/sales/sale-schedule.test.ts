import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBusinessDay } from '../../../../services/funds/releases/business-days.ts';
import { type CapturedSale, scheduleSale } from '../../../../services/funds/sales/sale-schedule.ts';
import { addDays, daysBetween } from '../../../../services/platform/civil-date.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const MAX = 9_007_199_254_740_991n;

const sales = fc
  .record({
    method: fc.constantFrom('CARD' as const, 'INSTANT_TRANSFER' as const),
    day: fc.integer({ min: 0, max: 40_000 }),
    grossMinor: fc.oneof(fc.bigInt(1n, 500n), fc.bigInt(1n, MAX)),
    feeShare: fc.bigInt(0n, 1000n),
    installments: fc.integer({ min: 1, max: 99 }),
  })
  .map(({ method, day, grossMinor, feeShare, installments }) => ({
    method,
    capturedOn: addDays('1995-01-01', day),
    grossMinor,
    feesMinor: (grossMinor * feeShare) / 1000n,
    installments: method === 'CARD' ? installments : 1,
  }));

test('the installments add up to gross and fees to the cent, and none is negative', () => {
  fc.assert(
    fc.property(sales, (sale) => {
      const installments = scheduleSale(sale);
      expect(installments).toHaveLength(sale.installments);
      expect(sum(installments.map((installment) => installment.grossMinor))).toBe(sale.grossMinor);
      expect(sum(installments.map((installment) => installment.feesMinor))).toBe(sale.feesMinor);
      for (const installment of installments)
        expect(installment.feesMinor >= 0n && installment.feesMinor <= installment.grossMinor).toBe(true);
      const grosses = installments.map((installment) => installment.grossMinor);
      expect(grosses[0]! - grosses.at(-1)! <= 1n).toBe(true);
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('card installments fall on business days, 30 days apart or on the next ones, and never two on one date', () => {
  fc.assert(
    fc.property(sales, (sale) => {
      fc.pre(sale.method === 'CARD');
      const installments = scheduleSale(sale);
      expect(new Set(installments.map((installment) => installment.date)).size).toBe(installments.length);
      for (const { date, number } of installments) {
        const days = daysBetween(sale.capturedOn, date);
        expect(isBusinessDay(date)).toBe(true);
        for (let day = 30 * number; day < days; day += 1) {
          expect(isBusinessDay(addDays(sale.capturedOn, day))).toBe(false);
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  );
});

test('an instant transfer is one installment on its day, even on a Sunday', () => {
  const sale = captured({ method: 'INSTANT_TRANSFER', capturedOn: '2026-11-22' });
  expect(scheduleSale(sale)).toEqual([
    { number: 1, date: '2026-11-22', grossMinor: 10_000n, feesMinor: 399n },
  ]);
});

test('three installments of 100.00: the remaining cents go to the first installments', () => {
  const installments = scheduleSale(captured({ installments: 3, capturedOn: '2026-11-21' }));
  expect(installments.map((installment) => installment.date)).toEqual([
    '2026-12-21',
    '2027-01-20',
    '2027-02-19',
  ]);
  expect(installments.map((installment) => installment.grossMinor)).toEqual([3334n, 3333n, 3333n]);
  expect(installments.map((installment) => installment.feesMinor)).toEqual([133n, 133n, 133n]);
});

test('fees equal to the gross and an instant transfer in one installment are accepted', () => {
  expect(scheduleSale(captured({ feesMinor: 10_000n, installments: 12 }))).toHaveLength(12);
  expect(scheduleSale(captured({ method: 'INSTANT_TRANSFER' }))).toHaveLength(1);
});

function captured(sale: Partial<CapturedSale>): CapturedSale {
  const usual = {
    method: 'CARD',
    capturedOn: '2026-11-21',
    grossMinor: 10_000n,
    feesMinor: 399n,
    installments: 1,
  };
  return { ...usual, ...sale } as CapturedSale;
}

function sum(amounts: bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
