import { describe, expect, test } from 'vitest';
import { reserveQuoted, settleReserved } from '../../../services/funds/advances/reservation.ts';
import {
  type Allocation,
  allocateBlocked,
  allocateDebts,
  allocateDeduction,
  allocateRefund,
  availableMinor,
  reverse,
} from '../../../services/funds/allocation.ts';
import { type Installment, type OpenBlock, statusOf } from '../../../services/funds/sales/installment.ts';

const TODAY = '2026-11-20';
const refund: OpenBlock = { id: '1', reason: 'REFUND_IN_PROGRESS', sourceId: 'case' };
const otherRefund: OpenBlock = { id: '2', reason: 'REFUND_IN_PROGRESS', sourceId: 'other' };

function installment(id: string, date: string, given: Partial<Installment> = {}): Installment {
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const fresh = { part: 1, split: false, reservation: null, released: false, heldBy: [], version: 1n };
  return { id, saleId: 'sale', number: 1, date, ...amounts, ...fresh, ...given };
}
const released = (id: string, date: string, given: Partial<Installment> = {}) =>
  installment(id, date, { released: true, ...given });
const reserved = { reservation: { advanceRequestId: 'r', amountMinor: 100n } };
const namesOf = (allocations: readonly Allocation[]) =>
  allocations.map(({ after, amountMinor }) => [after.id, amountMinor]);

describe('a deduction', () => {
  test('uses the sale’s installments, nearest first, then free ones of others; the rest is a debt', () => {
    const own = [installment('own2', '2026-12-22'), installment('own1', '2026-12-21')];
    const others = [
      installment('next', '2026-12-01'),
      installment('blocked', '2026-11-25', { heldBy: [otherRefund] }),
      installment('released', '2026-11-01', { released: true }),
      installment('reserved', '2026-11-26', reserved),
      ...own,
    ];
    const took = allocateDeduction(330n, own, others, TODAY);
    expect(namesOf(took.allocations)).toEqual([
      ['own1', 100n],
      ['own2', 100n],
      ['next', 100n],
    ]);
    expect(took.missingMinor).toBe(30n);
  });

  test('skips reserved installments of its own sale', () => {
    const own = [installment('a', '2026-12-01', reserved), installment('b', '2026-12-02')];
    const took = allocateDeduction(150n, own, [], TODAY);
    expect(namesOf(took.allocations)).toEqual([['b', 100n]]);
    expect(took.missingMinor).toBe(50n);
  });

  test('takes installments of the same date by id, in whatever order they are given', () => {
    const installments = ['c', 'a', 'b'].map((id) => installment(id, '2026-12-01'));
    for (const order of [
      installments,
      installments.toReversed(),
      [installments[1]!, installments[2]!, installments[0]!],
    ]) {
      expect(namesOf(allocateDeduction(210n, [], order, TODAY).allocations)).toEqual([
        ['a', 100n],
        ['b', 100n],
        ['c', 10n],
      ]);
    }
  });

  test('leaves what a block holds of its own sale for last on each date', () => {
    const own = [
      installment('a', '2026-12-01', { heldBy: [otherRefund] }),
      installment('b', '2026-12-01'),
      installment('c', '2026-12-02'),
    ];
    for (const order of [own, own.toReversed()]) {
      expect(namesOf(allocateDeduction(210n, order, [], TODAY).allocations)).toEqual([
        ['b', 100n],
        ['a', 100n],
        ['c', 10n],
      ]);
    }
  });

  test('allocates nothing for a zero amount, and nothing of used-up installments', () => {
    const installments = [
      installment('a', '2026-12-01', { deductedMinor: 100n }),
      installment('b', '2026-12-02'),
    ];
    expect(allocateDeduction(0n, installments, installments, TODAY)).toEqual({
      allocations: [],
      missingMinor: 0n,
    });
    expect(namesOf(allocateDeduction(5n, installments, [], TODAY).allocations)).toEqual([['b', 5n]]);
  });
});

describe('a lost block', () => {
  test('consumes exactly what remains of the installments it blocks', () => {
    const installments = [
      installment('a', '2026-12-01', { heldBy: [refund], deductedMinor: 30n }),
      installment('b', '2026-12-02', { heldBy: [otherRefund] }),
      installment('c', '2026-12-03', reserved),
    ];
    expect(namesOf(allocateBlocked(installments, refund, TODAY))).toEqual([['a', 70n]]);
  });
});

describe('the available balance', () => {
  test('is the released amount minus open debts', () => {
    expect(availableMinor(500n, 120n)).toBe(380n);
    expect(availableMinor(100n, 120n)).toBe(-20n);
  });

  test('is higher for a refund by what is blocked for it, and for no other', () => {
    const installments = [
      installment('a', '2026-12-01', { heldBy: [refund], deductedMinor: 30n }),
      installment('b', '2026-12-02', { heldBy: [refund, otherRefund] }),
      installment('c', '2026-12-03', reserved),
    ];
    expect(availableMinor(500n, 120n, installments, refund)).toBe(500n - 120n + 70n + 100n);
    expect(availableMinor(500n, 120n, installments, otherRefund)).toBe(500n - 120n + 100n);
    expect(availableMinor(500n, 120n, installments)).toBe(380n);
  });
});

describe('a refund', () => {
  const own = [released('own1', '2026-11-02'), released('own2', '2026-11-03')];

  test('uses its own installments once, latest first, and of the others only released ones', () => {
    const others = [
      ...own,
      installment('scheduled', '2026-10-30'),
      released('blocked', '2026-10-31', { heldBy: [otherRefund] }),
      released('late', '2026-11-05'),
      released('early', '2026-11-01'),
    ];
    expect(namesOf(allocateRefund(350n, { ofSale: own, released: others }, refund, TODAY))).toEqual([
      ['own2', 100n],
      ['own1', 100n],
      ['early', 100n],
      ['late', 50n],
    ]);
  });

  test('uses parts held for it before released ones of the same date, and the last ids first', () => {
    const parts = [
      released('c', '2026-11-02'),
      installment('a', '2026-11-02', { heldBy: [refund] }),
      installment('b', '2026-11-02', { heldBy: [refund] }),
      installment('d', '2026-11-01', { heldBy: [refund] }),
    ];
    for (const own of [parts, parts.toReversed()]) {
      expect(namesOf(allocateRefund(350n, { ofSale: own, released: [] }, refund, TODAY))).toEqual([
        ['b', 100n],
        ['a', 100n],
        ['c', 100n],
        ['d', 50n],
      ]);
    }
  });

  test('uses no own installment that is scheduled or blocked by another block', () => {
    const held = [installment('a', '2026-12-01'), released('b', '2026-11-01', { heldBy: [otherRefund] })];
    expect(() => allocateRefund(1n, { ofSale: held, released: [] }, refund, TODAY)).toThrow(
      'a refund of 1 exceeds',
    );
  });

  test('never exceeds what is available', () => {
    expect(namesOf(allocateRefund(200n, { ofSale: own, released: own }, refund, TODAY))).toHaveLength(2);
    expect(() => allocateRefund(201n, { ofSale: own, released: own }, refund, TODAY)).toThrow(
      'a refund of 201 exceeds',
    );
  });

  test('is reversed installment by installment', () => {
    const spent = own.map((one) => ({ ...one, deductedMinor: 40n }));
    const taken = [
      { installmentId: 'own2', amountMinor: 40n },
      { installmentId: 'own1', amountMinor: 10n },
    ];
    const back = reverse(taken, spent, TODAY);
    expect(namesOf(back)).toEqual([
      ['own2', 40n],
      ['own1', 10n],
    ]);
    expect(back.map(({ after }) => after.deductedMinor)).toEqual([0n, 30n]);
    expect(() => reverse([{ installmentId: 'x', amountMinor: 1n }], spent, TODAY)).toThrow(
      'installment x of a debit does not exist',
    );
  });
});

describe('debts', () => {
  test('are collected oldest first, from free installments, nearest date first', () => {
    const installments = [installment('b', '2026-12-21'), installment('a', '2026-12-01')];
    const debts = [
      { sourceId: 'old', openMinor: 70n },
      { sourceId: 'new', openMinor: 200n },
    ];
    const paid = allocateDebts(debts, installments, TODAY);
    expect(
      paid.allocations.map(({ sourceId, after, amountMinor }) => [sourceId, after.id, amountMinor]),
    ).toEqual([
      ['old', 'a', 70n],
      ['new', 'a', 30n],
      ['new', 'b', 100n],
    ]);
    expect(paid.debts.map((debt) => debt.openMinor)).toEqual([0n, 70n]);
  });

  test('are collected from free installments only, each from what the previous one left', () => {
    const installments = [
      released('released', '2026-11-01'),
      installment('blocked', '2026-11-25', { heldBy: [refund] }),
      installment('reserved', '2026-11-26', reserved),
      installment('free', '2026-12-01'),
    ];
    const debts = [60n, 30n, 30n].map((openMinor, index) => ({ sourceId: `d${index}`, openMinor }));
    const paid = allocateDebts(debts, installments, TODAY);
    expect(namesOf(paid.allocations)).toEqual([
      ['free', 60n],
      ['free', 30n],
      ['free', 10n],
    ]);
    expect(paid.allocations.map(({ after }) => after.deductedMinor)).toEqual([60n, 90n, 100n]);
    expect(paid.debts).toEqual([
      { sourceId: 'd0', openMinor: 0n },
      { sourceId: 'd1', openMinor: 0n },
      { sourceId: 'd2', openMinor: 20n },
    ]);
  });
});

describe('a reservation', () => {
  const staleBy = (installmentId: string) =>
    expect.objectContaining({ reason: 'QUOTE_STALE', metadata: { installmentId } });

  test('is refused if a quoted installment changed, is blocked, reserved, due or listed twice, and nothing is reserved', () => {
    const good = installment('good', '2026-12-21');
    const stale: Installment[] = [
      installment('stale', '2026-12-21', { version: 2n }),
      installment('stale', '2026-12-21', { heldBy: [refund] }),
      installment('stale', '2026-12-21', { reservation: { advanceRequestId: 'other', amountMinor: 100n } }),
      installment('stale', TODAY),
      installment('stale', '2026-12-21', { deductedMinor: 100n }),
    ];
    const quoted = [
      { installmentId: 'good', version: 1n },
      { installmentId: 'stale', version: 1n },
    ];
    for (const other of stale) {
      expect(() => reserveQuoted(quoted, [good, other], 'r', TODAY)).toThrow(staleBy('stale'));
    }
    expect(() => reserveQuoted([quoted[0]!, quoted[0]!], [good], 'r', TODAY)).toThrow(staleBy('good'));
  });

  test('is paid out: moves what was promised to advanced, and fails from the day of an installment on', () => {
    const promised = installment('a', '2026-12-21', reserved);
    expect(settleReserved([promised], '2026-12-20')).toMatchObject([
      { after: { advancedMinor: 100n, reservation: null }, amountMinor: 100n },
    ]);
    expect(() => settleReserved([promised], '2026-12-21')).toThrow(
      expect.objectContaining({ reason: 'COVERED_PART_DUE', metadata: { date: '2026-12-21' } }),
    );
  });

  test('promises each quoted installment in full', () => {
    const installments = [
      installment('a', '2026-12-01'),
      installment('b', '2026-12-02', { deductedMinor: 40n }),
    ];
    const quoted = installments.map(({ id, version }) => ({ installmentId: id, version }));
    const reserved = reserveQuoted(quoted, installments, 'r', TODAY);
    expect(reserved.map(({ before }) => before)).toEqual(installments);
    expect(reserved.map(({ after }) => after)).toEqual([
      { ...installments[0], reservation: { advanceRequestId: 'r', amountMinor: 100n } },
      { ...installments[1], reservation: { advanceRequestId: 'r', amountMinor: 60n } },
    ]);
    expect(reserved.map(({ after }) => statusOf(after))).toEqual(['SCHEDULED', 'SCHEDULED']);
  });

  test('pays nothing for an installment that is not reserved', () => {
    expect(settleReserved([installment('a', '2026-12-01')], TODAY)).toMatchObject([{ amountMinor: 0n }]);
  });
});
