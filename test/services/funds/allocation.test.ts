import { describe, expect, test } from 'vitest';
import {
  availableMinor,
  giveBack,
  type Taking,
  takeBlocked,
  takeDebts,
  takeDeduction,
  takeRefund,
} from '../../../services/funds/allocation.ts';
import { type Block, type Part, statusOf } from '../../../services/funds/installment.ts';
import { reserveQuoted, settleReserved } from '../../../services/funds/reservation.ts';

const TODAY = '2026-11-20';
const refund: Block = { reason: 'REFUND_IN_PROGRESS', sourceId: 'case' };
const otherRefund: Block = { reason: 'REFUND_IN_PROGRESS', sourceId: 'other' };

function part(id: string, date: string, given: Partial<Part> = {}): Part {
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const fresh = { reservation: null, released: false, saleBlocks: [], version: 1n };
  return { id, saleId: 'sale', installment: 1, date, ...amounts, ...fresh, ...given };
}
const released = (id: string, date: string, given: Partial<Part> = {}) =>
  part(id, date, { released: true, ...given });
const reserved = { reservation: { advanceRequestId: 'r', amountMinor: 100n } };
const namesOf = (takings: readonly Taking[]) =>
  takings.map(({ after, amountMinor }) => [after.id, amountMinor]);

describe('a deduction', () => {
  test('leaves reserved parts of its own sale alone', () => {
    const own = [part('a', '2026-12-01', reserved), part('b', '2026-12-02')];
    const took = takeDeduction(150n, own, [], TODAY);
    expect(namesOf(took.takings)).toEqual([['b', 100n]]);
    expect(took.missingMinor).toBe(50n);
  });

  test('takes from parts of one date by their ids, however they come', () => {
    const parts = ['c', 'a', 'b'].map((id) => part(id, '2026-12-01'));
    for (const order of [parts, parts.toReversed(), [parts[1]!, parts[2]!, parts[0]!]]) {
      expect(namesOf(takeDeduction(210n, [], order, TODAY).takings)).toEqual([
        ['a', 100n],
        ['b', 100n],
        ['c', 10n],
      ]);
    }
  });

  test('takes nothing for nothing, and nothing from what is used up', () => {
    const parts = [part('a', '2026-12-01', { deductedMinor: 100n }), part('b', '2026-12-02')];
    expect(takeDeduction(0n, parts, parts, TODAY)).toEqual({ takings: [], missingMinor: 0n });
    expect(namesOf(takeDeduction(5n, parts, [], TODAY).takings)).toEqual([['b', 5n]]);
  });
});

describe('a lost block', () => {
  test('takes all that is left of what it holds, and nothing else', () => {
    const parts = [
      part('a', '2026-12-01', { saleBlocks: [refund], deductedMinor: 30n }),
      part('b', '2026-12-02', { saleBlocks: [otherRefund] }),
      part('c', '2026-12-03', { saleBlocks: [refund], ...reserved }),
    ];
    expect(namesOf(takeBlocked(parts, refund, TODAY))).toEqual([['a', 70n]]);
  });
});

describe('the available balance', () => {
  test('is what is released less open debts', () => {
    expect(availableMinor(500n, 120n)).toBe(380n);
    expect(availableMinor(100n, 120n)).toBe(-20n);
  });

  test('is more for a refund by what is blocked for it, and for no other', () => {
    const parts = [
      part('a', '2026-12-01', { saleBlocks: [refund], deductedMinor: 30n }),
      part('b', '2026-12-02', { saleBlocks: [refund, otherRefund] }),
      part('c', '2026-12-03', { saleBlocks: [refund], ...reserved }),
    ];
    expect(availableMinor(500n, 120n, parts, refund)).toBe(500n - 120n + 70n + 100n);
    expect(availableMinor(500n, 120n, parts, otherRefund)).toBe(500n - 120n + 100n);
    expect(availableMinor(500n, 120n, parts)).toBe(380n);
  });
});

describe('a refund', () => {
  const own = [released('own1', '2026-11-02'), released('own2', '2026-11-03')];

  test('takes its own parts once, latest first, and of the others those that are released', () => {
    const others = [
      ...own,
      part('scheduled', '2026-10-30'),
      released('blocked', '2026-10-31', { saleBlocks: [otherRefund] }),
      released('late', '2026-11-05'),
      released('early', '2026-11-01'),
    ];
    expect(namesOf(takeRefund(350n, own, others, refund, TODAY))).toEqual([
      ['own2', 100n],
      ['own1', 100n],
      ['early', 100n],
      ['late', 50n],
    ]);
  });

  test('takes no part of its own that is scheduled or held by another block', () => {
    const held = [part('a', '2026-12-01'), released('b', '2026-11-01', { saleBlocks: [otherRefund] })];
    expect(() => takeRefund(1n, held, [], refund, TODAY)).toThrow('a refund of 1 was let past');
  });

  test('never goes past what there is', () => {
    expect(namesOf(takeRefund(200n, own, own, refund, TODAY))).toHaveLength(2);
    expect(() => takeRefund(201n, own, own, refund, TODAY)).toThrow('a refund of 201 was let past');
  });

  test('is given back part by part', () => {
    const spent = own.map((one) => ({ ...one, deductedMinor: 40n }));
    const taken = [
      { partId: 'own2', amountMinor: 40n },
      { partId: 'own1', amountMinor: 10n },
    ];
    const back = giveBack(taken, spent, TODAY);
    expect(namesOf(back)).toEqual([
      ['own2', 40n],
      ['own1', 10n],
    ]);
    expect(back.map(({ after }) => after.deductedMinor)).toEqual([0n, 30n]);
    expect(() => giveBack([{ partId: 'x', amountMinor: 1n }], spent, TODAY)).toThrow(
      'part x of a debit is not there',
    );
  });
});

describe('debts', () => {
  test('take from free parts alone, each only what the one before has left', () => {
    const parts = [
      released('released', '2026-11-01'),
      part('blocked', '2026-11-25', { saleBlocks: [refund] }),
      part('reserved', '2026-11-26', reserved),
      part('free', '2026-12-01'),
    ];
    const debts = [60n, 30n, 30n].map((openMinor, index) => ({ sourceId: `d${index}`, openMinor }));
    const paid = takeDebts(debts, parts, TODAY);
    expect(namesOf(paid.takings)).toEqual([
      ['free', 60n],
      ['free', 30n],
      ['free', 10n],
    ]);
    expect(paid.takings.map(({ after }) => after.deductedMinor)).toEqual([60n, 90n, 100n]);
    expect(paid.debts).toEqual([
      { sourceId: 'd0', openMinor: 0n },
      { sourceId: 'd1', openMinor: 0n },
      { sourceId: 'd2', openMinor: 20n },
    ]);
  });
});

describe('a reservation', () => {
  test('promises each quoted part in full', () => {
    const parts = [part('a', '2026-12-01'), part('b', '2026-12-02', { deductedMinor: 40n })];
    const quoted = parts.map(({ id, version }) => ({ partId: id, version }));
    const result = reserveQuoted(quoted, parts, 'r', TODAY);
    expect(result).toEqual({
      parts: [
        { ...parts[0], reservation: { advanceRequestId: 'r', amountMinor: 100n } },
        { ...parts[1], reservation: { advanceRequestId: 'r', amountMinor: 60n } },
      ],
    });
    expect(parts.map(statusOf)).toEqual(['SCHEDULED', 'SCHEDULED']);
  });

  test('pays nothing for a part that is not reserved', () => {
    expect(settleReserved([part('a', '2026-12-01')], TODAY)).toMatchObject({
      takings: [{ amountMinor: 0n }],
    });
  });
});
