import { expect, test } from 'vitest';
import {
  allocateBlocked,
  allocateDebts,
  allocateDeduction,
  allocateRefund,
  reverse,
} from '../../../services/funds/allocation.ts';
import { adjustHolds } from '../../../services/funds/holds.ts';
import {
  free,
  type Installment,
  type OpenBlock,
  statusOf,
  unhold,
} from '../../../services/funds/installment.ts';
import { reserveQuoted, settleReserved } from '../../../services/funds/reservation.ts';

const TODAY = '2026-11-20';
const DISPUTE: OpenBlock = { id: '1', reason: 'HOLD_OR_DISPUTE', sourceId: 'dispute' };
const REFUND: OpenBlock = { id: '2', reason: 'REFUND_IN_PROGRESS', sourceId: 'case' };

test('an installment leaves BLOCKED with its last block, to the status of its date', () => {
  const heldBy = [DISPUTE, REFUND];
  const due = installment('due', '2026-11-20', { heldBy });
  const future = installment('future', '2026-11-23', { heldBy });
  const once = [due, future].map((each) => unhold(each, DISPUTE, TODAY));
  expect(once.map(statusOf)).toEqual(['BLOCKED', 'BLOCKED']);
  expect(once.map((each) => statusOf(unhold(each, REFUND, TODAY)))).toEqual(['RELEASED', 'SCHEDULED']);
});

test('a block skips reserved and advanced installments, and takes a reserved one once it is freed', () => {
  const reservation = { advanceRequestId: 'r', amountMinor: 100n };
  const reserved = installment('a', '2026-12-21', { reservation });
  const advanced = installment('b', '2026-12-22', { number: 2, advancedMinor: 40n });
  const hold = { ...DISPUTE, wantedMinor: 500n };
  expect(adjustHolds([reserved, advanced], [hold], TODAY)).toEqual([]);
  const freed = free(reserved);
  const after = { ...freed, heldBy: [DISPUTE] };
  expect(adjustHolds([freed, advanced], [hold], TODAY)).toEqual([{ before: freed, after }]);
});

test('a lost dispute consumes everything that it blocks', () => {
  const installments = [
    installment('a', '2026-11-20', { heldBy: [DISPUTE] }),
    installment('b', '2026-12-21', { heldBy: [REFUND] }),
  ];
  const allocations = allocateBlocked(installments, DISPUTE, TODAY);
  expect(allocations.map(({ after, amountMinor }) => [after.id, amountMinor, statusOf(after)])).toEqual([
    ['a', 100n, 'RELEASED'],
  ]);
});

test('a deduction uses the sale’s installments, nearest first, then free ones of others; the rest is a debt', () => {
  const own = [installment('own2', '2026-12-22'), installment('own1', '2026-12-21')];
  const others = [
    installment('next', '2026-12-01'),
    installment('blocked', '2026-11-25', { heldBy: [DISPUTE] }),
    installment('released', '2026-11-01', { released: true }),
    installment('reserved', '2026-11-26', { reservation: { advanceRequestId: 'r', amountMinor: 100n } }),
    ...own,
  ];
  const took = allocateDeduction(330n, own, others, TODAY);
  expect(took.allocations.map(({ after, amountMinor }) => [after.id, amountMinor])).toEqual([
    ['own1', 100n],
    ['own2', 100n],
    ['next', 100n],
  ]);
  expect(took.missingMinor).toBe(30n);
});

test('debts are collected oldest first, from free installments, nearest date first', () => {
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

test("a refund debits the sale's installments that are released or blocked for it, latest first, then released ones, oldest first", () => {
  const own = [
    installment('own1', '2026-11-20', { released: true }),
    installment('own2', '2026-12-21', { heldBy: [REFUND] }),
    installment('own3', '2027-01-20', { reservation: { advanceRequestId: 'r', amountMinor: 100n } }),
  ];
  const released = [
    installment('y', '2026-11-02', { released: true }),
    installment('x', '2026-11-01', { released: true }),
  ];
  const allocations = allocateRefund(
    310n,
    own,
    [...released, installment('scheduled', '2026-12-01')],
    REFUND,
    TODAY,
  );
  expect(allocations.map(({ after, amountMinor }) => [after.id, amountMinor])).toEqual([
    ['own2', 100n],
    ['own1', 100n],
    ['x', 100n],
    ['y', 10n],
  ]);
});

test('a reversed debit returns to its installments', () => {
  const spent = installment('a', '2026-12-21', { deductedMinor: 100n });
  const [back] = reverse([{ installmentId: 'a', amountMinor: 60n }], [spent], TODAY);
  expect(back).toEqual({ before: spent, after: { ...spent, deductedMinor: 40n }, amountMinor: 60n });
});

test('a quote is stale if an installment changed, is blocked, reserved, due or listed twice, and nothing is reserved', () => {
  const good = installment('good', '2026-12-21');
  const stale: Installment[] = [
    installment('stale', '2026-12-21', { version: 2n }),
    installment('stale', '2026-12-21', { heldBy: [DISPUTE] }),
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

test('a payout moves what was promised to advanced, and fails from the day of an installment on', () => {
  const reserved = installment('a', '2026-12-21', {
    reservation: { advanceRequestId: 'r', amountMinor: 100n },
  });
  expect(settleReserved([reserved], '2026-12-20')).toMatchObject([
    { after: { advancedMinor: 100n, reservation: null }, amountMinor: 100n },
  ]);
  expect(() => settleReserved([reserved], '2026-12-21')).toThrow(
    expect.objectContaining({ reason: 'COVERED_PART_DUE', metadata: { date: '2026-12-21' } }),
  );
});

const staleBy = (installmentId: string) =>
  expect.objectContaining({ reason: 'QUOTE_STALE', metadata: { installmentId } });

function installment(id: string, date: string, given: Partial<Installment> = {}): Installment {
  const amounts = { grossMinor: 110n, feesMinor: 10n, deductedMinor: 0n, advancedMinor: 0n };
  const fresh = { part: 1, split: false, reservation: null, released: false, heldBy: [], version: 1n };
  return { id, saleId: 'sale', number: 1, date, ...amounts, ...fresh, ...given };
}
