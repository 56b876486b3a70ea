import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBusinessDay } from '../../../services/funds/business-days.ts';
import { type CapturedSale, saleFault, scheduleSale } from '../../../services/funds/sale-schedule.ts';
import { addDays, daysBetween } from '../../../services/platform/civil-date.ts';
import { propertyRuns } from '../../support/property-runs.ts';

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

test('the parts sum to gross and fees to the cent, and none is negative', () => {
  fc.assert(
    fc.property(sales, (sale) => {
      const parts = scheduleSale(sale);
      expect(parts).toHaveLength(sale.installments);
      expect(sum(parts.map((part) => part.grossMinor))).toBe(sale.grossMinor);
      expect(sum(parts.map((part) => part.feesMinor))).toBe(sale.feesMinor);
      for (const part of parts) expect(part.feesMinor >= 0n && part.feesMinor <= part.grossMinor).toBe(true);
      const grosses = parts.map((part) => part.grossMinor);
      expect(grosses[0]! - grosses.at(-1)! <= 1n).toBe(true);
    }),
    { numRuns: propertyRuns(2000) },
  );
});

test('card instalments fall on business days, 30 days apart or the next ones after, and never on one date', () => {
  fc.assert(
    fc.property(sales, (sale) => {
      fc.pre(sale.method === 'CARD');
      const parts = scheduleSale(sale);
      expect(new Set(parts.map((part) => part.date)).size).toBe(parts.length);
      for (const { date, installment } of parts) {
        const days = daysBetween(sale.capturedOn, date);
        expect(isBusinessDay(date)).toBe(true);
        for (let day = 30 * installment; day < days; day += 1) {
          expect(isBusinessDay(addDays(sale.capturedOn, day))).toBe(false);
        }
      }
    }),
    { numRuns: propertyRuns(2000) },
  );
});

test('an instant transfer is one part on its day, a Sunday too', () => {
  const sale = captured({ method: 'INSTANT_TRANSFER', capturedOn: '2026-11-22' });
  expect(scheduleSale(sale)).toEqual([
    { installment: 1, date: '2026-11-22', grossMinor: 10_000n, feesMinor: 399n },
  ]);
});

test('three instalments of 100.00: the cents left over go to the first parts', () => {
  const parts = scheduleSale(captured({ installments: 3, capturedOn: '2026-11-21' }));
  expect(parts.map((part) => part.date)).toEqual(['2026-12-21', '2027-01-20', '2027-02-19']);
  expect(parts.map((part) => part.grossMinor)).toEqual([3334n, 3333n, 3333n]);
  expect(parts.map((part) => part.feesMinor)).toEqual([133n, 133n, 133n]);
});

test('fees above the gross and instalments of an instant transfer are faults', () => {
  expect(saleFault(captured({}))).toBeNull();
  expect(saleFault(captured({ feesMinor: 10_000n, installments: 12 }))).toBeNull();
  expect(saleFault(captured({ method: 'INSTANT_TRANSFER' }))).toBeNull();
  expect(saleFault(captured({ feesMinor: 10_001n }))).toBe('FEES_EXCEED_GROSS');
  expect(saleFault(captured({ method: 'INSTANT_TRANSFER', installments: 2 }))).toBe(
    'INSTALLMENTS_NOT_ALLOWED',
  );
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
