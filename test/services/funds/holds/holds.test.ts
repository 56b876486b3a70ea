import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adjustHolds, type Hold, heldMinor } from '../../../../services/funds/holds/holds.ts';
import {
  holdableMinor,
  type Installment,
  isHeldBy,
  type OpenBlock,
  remainingMinor,
  statusOf,
} from '../../../../services/funds/sales/installment.ts';
import { deductionsOnReversal, wantedMinor } from '../../../../services/funds/sales/sale-rest.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const TODAY = '2026-11-20';
const DISPUTE: OpenBlock = { id: 'd', reason: 'HOLD_OR_DISPUTE', sourceId: 'dispute' };
const REFUND: OpenBlock = { id: 'r', reason: 'REFUND_IN_PROGRESS', sourceId: 'case' };
const OTHER: OpenBlock = { id: 'o', reason: 'REFUND_IN_PROGRESS', sourceId: 'other' };

/** An installment of 100 remaining, in the month of its number; the first is released. */
function installment(number: number, given: Partial<Installment> = {}): Installment {
  const date = `2026-${String(10 + number).padStart(2, '0')}-20`;
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const state = { reservation: null, released: date <= TODAY, heldBy: [], version: 1n };
  const place = { saleId: 'sale', number, part: 1, split: false, date };
  return { id: `${number}`, ...place, ...amounts, ...state, ...given };
}
const wants = (block: OpenBlock, minor: bigint): Hold => ({ ...block, wantedMinor: minor });

function adjusted(installments: readonly Installment[], holds: readonly Hold[]): Installment[] {
  const parts = new Map(installments.map((each) => [each.id, each]));
  for (const { after } of adjustHolds(installments, holds, TODAY)) parts.set(after.id, after);
  return [...parts.values()];
}

/** What is held, by date and part: the amount and the blocks. */
const view = (parts: readonly Installment[]) =>
  parts
    .toSorted((one, other) => one.number - other.number || one.part - other.part)
    .map((each) => [each.number, each.part, remainingMinor(each), each.heldBy.map(({ id }) => id).join('')]);

describe('a block should hold', () => {
  const refundsMinor = new Map(Object.entries({ case: 150n, other: 50n }));
  const sale = { capturedMinor: 1000n, refundsMinor, lostMinor: 0n };

  test.each<[string, OpenBlock, bigint | null, bigint]>([
    ['its amount', DISPUTE, 400n, 400n],
    ['its amount less the debit of its own refund', REFUND, 400n, 250n],
    ['nothing once its refund is debited', REFUND, 100n, 0n],
    ['the rest of the sale without an amount', DISPUTE, null, 800n],
    ['its amount, when only its id is that of a refund', { ...DISPUTE, sourceId: 'case' }, 400n, 400n],
    ['its amount, when another refund is debited', { ...REFUND, sourceId: 'third' }, 400n, 400n],
  ])('%s', (_, block, amountMinor, wanted) => {
    expect(wantedMinor({ ...block, amountMinor }, sale)).toBe(wanted);
  });

  test('nothing of a sale refunded beyond what was captured', () => {
    expect(wantedMinor({ ...DISPUTE, amountMinor: null }, { ...sale, capturedMinor: 100n })).toBe(0n);
  });

  test('no more for a dispute than refunds and lost disputes have left of the sale', () => {
    const left = { ...sale, lostMinor: 500n };
    const wanted = (block: OpenBlock, amountMinor: bigint | null) =>
      wantedMinor({ ...block, amountMinor }, left);
    expect(wanted(DISPUTE, null)).toBe(300n);
    expect(wanted(DISPUTE, 400n)).toBe(300n);
    expect(wanted(DISPUTE, 200n)).toBe(200n);
    expect(wanted(OTHER, 400n)).toBe(350n);
    expect(wanted({ ...DISPUTE, reason: 'KYC_PENDING' }, 400n)).toBe(400n);
    expect(wantedMinor({ ...DISPUTE, amountMinor: 400n }, { ...left, lostMinor: 900n })).toBe(0n);
  });

  test('its amount of a sale that is not recorded, and nothing known without an amount', () => {
    const unrecorded = { capturedMinor: undefined, refundsMinor: new Map(), lostMinor: 0n };
    expect(wantedMinor({ ...DISPUTE, amountMinor: 5n }, unrecorded)).toBe(5n);
    expect(wantedMinor({ ...DISPUTE, amountMinor: null }, unrecorded)).toBeUndefined();
  });

  test('nothing known for a dispute of a sale that is not recorded, once something of it was refunded or lost', () => {
    const unrecorded = { capturedMinor: undefined, refundsMinor: new Map(), lostMinor: 0n };
    for (const touched of [
      { ...unrecorded, refundsMinor },
      { ...unrecorded, lostMinor: 1n },
    ]) {
      expect(wantedMinor({ ...DISPUTE, amountMinor: 5n }, touched)).toBeUndefined();
      expect(wantedMinor({ ...OTHER, amountMinor: 155n }, touched)).toBe(
        touched.refundsMinor.size > 0 ? 105n : 155n,
      );
    }
  });
});

test('a dispute of the guide’s example takes what a refund has left of its sale, and the rest when the refund is returned', () => {
  const refunded = { capturedMinor: 10_000n, refundsMinor: new Map([['case', 3_000n]]), lostMinor: 0n };
  expect(wantedMinor({ ...DISPUTE, amountMinor: 9_000n }, refunded)).toBe(7_000n);
  const lost = { ...refunded, lostMinor: 7_000n };
  const returned = { ...lost, refundsMinor: new Map() };
  const { sourceId } = DISPUTE;
  const dispute = (amountMinor: bigint) => [{ sourceId, amountMinor, deductedMinor: 7_000n }];
  expect(deductionsOnReversal(dispute(9_000n), lost, returned)).toEqual([{ sourceId, amountMinor: 2_000n }]);
  expect(deductionsOnReversal(dispute(7_000n), lost, returned)).toEqual([]);
});

describe('a hold', () => {
  test('holds its amount, latest date first, and splits the last installment it needs', () => {
    const sale = [1, 2, 3].map((number) => installment(number));
    const changes = adjustHolds(sale, [wants(REFUND, 130n)], TODAY);
    expect(changes.map(({ before, after, splitFrom }) => [before?.id, after.id, splitFrom?.id])).toEqual([
      ['2', '2', undefined],
      ['3', '3', undefined],
      [undefined, expect.stringMatching(/-/), '2'],
    ]);
    expect(view(adjusted(sale, [wants(REFUND, 130n)]))).toEqual([
      [1, 1, 100n, ''],
      [2, 1, 70n, ''],
      [2, 2, 30n, 'r'],
      [3, 1, 100n, 'r'],
    ]);
  });

  test('holds no advanced, reserved or used-up installments, even if its amount is not met', () => {
    const sale = [
      installment(1),
      installment(2, { advancedMinor: 40n }),
      installment(3, { reservation: { advanceRequestId: 'a', amountMinor: 100n } }),
      installment(4, { deductedMinor: 100n }),
    ];
    const held = adjusted(sale, [wants(DISPUTE, 500n)]);
    expect(held.map(({ heldBy }) => heldBy.length)).toEqual([1, 0, 0, 0]);
    expect(heldMinor(held, DISPUTE)).toBe(100n);
  });

  test('holds other cents than earlier holds, and shares theirs only when none are left', () => {
    const sale = [installment(1), installment(2)];
    expect(view(adjusted(sale, [wants(DISPUTE, 100n), wants(REFUND, 100n)]))).toEqual([
      [1, 1, 100n, 'r'],
      [2, 1, 100n, 'd'],
    ]);
    expect(view(adjusted(sale, [wants(DISPUTE, 100n), wants(REFUND, 140n)]))).toEqual([
      [1, 1, 100n, 'r'],
      [2, 1, 60n, 'd'],
      [2, 2, 40n, 'dr'],
    ]);
  });

  test('moves from shared cents to others as they become free', () => {
    const sale = [installment(1), installment(2, { heldBy: [DISPUTE, REFUND] })];
    expect(view(adjusted(sale, [wants(DISPUTE, 100n), wants(REFUND, 100n)]))).toEqual([
      [1, 1, 100n, 'd'],
      [2, 1, 100n, 'r'],
    ]);
    const few = [installment(1, { deductedMinor: 70n }), sale[1]!];
    expect(view(adjusted(few, [wants(DISPUTE, 100n), wants(REFUND, 100n)]))).toEqual([
      [1, 1, 30n, 'd'],
      [2, 1, 70n, 'dr'],
      [2, 2, 30n, 'r'],
    ]);
  });

  test('returns excess amounts: shared installments first, then the nearest', () => {
    const sale = [
      installment(1, { heldBy: [REFUND] }),
      installment(2, { heldBy: [REFUND] }),
      installment(3, { heldBy: [REFUND, OTHER] }),
    ];
    const after = adjusted(sale, [wants(REFUND, 150n), wants(OTHER, 100n)]);
    expect(view(after)).toEqual([
      [1, 1, 50n, 'r'],
      [1, 2, 50n, ''],
      [2, 1, 100n, 'r'],
      [3, 1, 100n, 'o'],
    ]);
    expect(after.map(statusOf)).toEqual(['BLOCKED', 'BLOCKED', 'BLOCKED', 'RELEASED']);
  });

  test('splits a part again under the next number of its installment', () => {
    const part = installment(2, { id: 'part', part: 2, split: true, released: false });
    const sale = [installment(1), installment(2, { deductedMinor: 60n, split: true }), part];
    const after = adjusted(sale, [wants(REFUND, 30n)]);
    expect(view(after).map(([number, n, minor]) => [number, n, minor])).toContainEqual([2, 3, 30n]);
  });

  const block = fc.record({ wantedMinor: fc.bigInt(0n, 500n), id: fc.constantFrom('a', 'b', 'c', 'e') });
  const blocks = fc
    .uniqueArray(block, { selector: ({ id }) => id, minLength: 1 })
    .map((all) => all.map((one): Hold => ({ ...one, reason: 'KYC_PENDING', sourceId: one.id })));
  const amounts = fc.record({
    grossMinor: fc.bigInt(100n, 200n),
    feesMinor: fc.bigInt(0n, 100n),
    held: fc.subarray(['a', 'b', 'c', 'e']),
    reserved: fc.boolean(),
  });

  test('does not change when recomputed, and keeps every cent', () => {
    fc.assert(
      fc.property(fc.array(amounts, { minLength: 1, maxLength: 5 }), blocks, (all, holds) => {
        const given = all.map(({ grossMinor, feesMinor, held, reserved }, index) => {
          const whole = installment(index + 1, { grossMinor, feesMinor });
          const reservation = { advanceRequestId: 'x', amountMinor: remainingMinor(whole) };
          if (holdableMinor(whole) === 0n) return whole;
          if (reserved) return { ...whole, reservation };
          return { ...whole, heldBy: holds.filter(({ id }) => held.includes(id)) };
        });
        const after = adjusted(given, holds);
        expect(adjustHolds(after, holds, TODAY)).toEqual([]);
        const sum = (parts: readonly Installment[]) => [
          parts.reduce((minor, { grossMinor }) => minor + grossMinor, 0n),
          parts.reduce((minor, { feesMinor }) => minor + feesMinor, 0n),
        ];
        expect(sum(after)).toEqual(sum(given));
        const holdable = after.reduce((minor, part) => minor + holdableMinor(part), 0n);
        for (const hold of holds) {
          const wanted = hold.wantedMinor < holdable ? hold.wantedMinor : holdable;
          expect(heldMinor(after, hold)).toBe(wanted);
          const alone = after.every((part) => !isHeldBy(part, hold) || part.heldBy.length === 1);
          const unheld = after.some((part) => part.heldBy.length === 0 && holdableMinor(part) > 0n);
          if (unheld) expect(alone).toBe(true);
        }
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});
