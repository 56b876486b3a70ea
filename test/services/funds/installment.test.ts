import { describe, expect, test } from 'vitest';
import {
  addBlock,
  type Block,
  blocksOf,
  deduct,
  free,
  type Installment,
  isBlockedBy,
  isBlockedDifferently,
  isFree,
  newInstallment,
  originalMinor,
  release,
  remainingMinor,
  removeBlock,
  reserve,
  restore,
  settle,
  statusOf,
  withSaleBlocks,
} from '../../../services/funds/installment.ts';

const TODAY = '2026-11-16';
const BEFORE = '2026-11-15';
const AFTER = '2026-11-17';
const dispute: Block = { reason: 'HOLD_OR_DISPUTE', sourceId: 'one' };
const otherDispute: Block = { reason: 'HOLD_OR_DISPUTE', sourceId: 'other' };
const refund: Block = { reason: 'REFUND_IN_PROGRESS', sourceId: 'one' };

/** An installment of 100 centavos gross and 10 of fees, scheduled for tomorrow. */
const scheduled = (date = AFTER): Installment =>
  newInstallment('installment', 'sale', { number: 2, date, grossMinor: 100n, feesMinor: 10n }, TODAY);
const blocked = (blocks: readonly Block[], date = AFTER) => withSaleBlocks(scheduled(date), blocks, TODAY);
const settled = () => settle(reserve(deduct(scheduled(), 30n, TODAY), 'advance'));

describe('a new installment', () => {
  test.each([
    [BEFORE, true],
    [TODAY, true],
    [AFTER, false],
  ])('dated %s is released at once: %s', (date, released) => {
    expect(scheduled(date)).toEqual({
      id: 'installment',
      saleId: 'sale',
      number: 2,
      date,
      grossMinor: 100n,
      feesMinor: 10n,
      deductedMinor: 0n,
      advancedMinor: 0n,
      reservation: null,
      saleBlocks: [],
      version: 1n,
      released,
    });
  });

  test('is gross less fees, all of it remaining', () => {
    expect([originalMinor(scheduled()), remainingMinor(scheduled())]).toEqual([90n, 90n]);
  });
});

describe('the remaining amount', () => {
  test('is reduced by deductions and advances', () => {
    const installment = { ...scheduled(), deductedMinor: 25n, advancedMinor: 40n };
    expect(remainingMinor(installment)).toBe(25n);
  });

  test.each([0n, 1n, 89n, 90n])('allows a deduction: %s', (amount) => {
    expect(deduct(scheduled(), amount, TODAY)).toEqual({ ...scheduled(), deductedMinor: amount });
  });

  test.each([-1n, 91n])('refuses a deduction: %s', (amount) => {
    expect(() => deduct(scheduled(), amount, TODAY)).toThrow(`cannot deduct ${amount}`);
  });

  test('is promised on reservation, and then cannot be deducted', () => {
    const reserved = reserve(deduct(scheduled(), 30n, TODAY), 'advance');
    expect(reserved.reservation).toEqual({ advanceRequestId: 'advance', amountMinor: 60n });
    expect(() => deduct(reserved, 1n, TODAY)).toThrow('cannot deduct 1 ');
    expect(free(reserved).reservation).toBeNull();
  });

  test('can be restored up to what was deducted', () => {
    const installment = deduct(scheduled(), 30n, TODAY);
    for (const amount of [0n, 10n, 30n]) {
      expect(restore(installment, amount, TODAY).deductedMinor).toBe(30n - amount);
    }
    for (const amount of [-1n, 31n]) {
      expect(() => restore(installment, amount, TODAY)).toThrow(`cannot restore ${amount}`);
    }
  });

  test('is advanced when the reservation is paid, by the promised amount only', () => {
    expect(settled()).toMatchObject({ deductedMinor: 30n, advancedMinor: 60n, reservation: null });
    expect(remainingMinor(settled())).toBe(0n);
    expect(settle(scheduled())).toMatchObject({ advancedMinor: 0n });
  });
});

describe('the status', () => {
  test('follows from the date and the release, without blocks', () => {
    expect([scheduled(), release(scheduled())].map(statusOf)).toEqual(['SCHEDULED', 'RELEASED']);
  });

  test('is BLOCKED while a block is open, whether scheduled or released', () => {
    expect(statusOf(blocked([dispute]))).toBe('BLOCKED');
    expect(statusOf(blocked([dispute], BEFORE))).toBe('BLOCKED');
    expect(blocksOf(blocked([dispute, refund]))).toEqual([dispute, refund]);
  });

  test.each([
    ['advanced in part', { advancedMinor: 1n }],
    ['reserved', { reservation: { advanceRequestId: 'advance', amountMinor: 90n } }],
    ['with nothing left', { deductedMinor: 90n }],
  ])('of an installment %s is not affected by blocks', (_, change) => {
    const installment = { ...blocked([dispute]), ...change };
    expect(blocksOf(installment)).toEqual([]);
    expect(statusOf(installment)).toBe('SCHEDULED');
    expect(isBlockedBy(installment, dispute)).toBe(false);
  });

  test('an installment is free while it is scheduled, not reserved, and has a remaining amount', () => {
    expect(isFree(scheduled())).toBe(true);
    const others = [release(scheduled()), reserve(scheduled(), 'advance'), blocked([dispute])];
    expect([...others, deduct(scheduled(), 90n, TODAY)].map(isFree)).toEqual([false, false, false, false]);
  });
});

describe('an installment that leaves BLOCKED', () => {
  test.each([
    [BEFORE, 'RELEASED'],
    [TODAY, 'RELEASED'],
    [AFTER, 'SCHEDULED'],
  ])('dated %s becomes %s', (date, status) => {
    const held = { ...blocked([dispute], date), released: false };
    expect(statusOf(withSaleBlocks(held, [], TODAY))).toBe(status);
    expect(statusOf(deduct(held, 90n, TODAY))).toBe(status);
  });

  test('is released only then, not while another block is open', () => {
    const held = { ...blocked([dispute, refund], TODAY), released: false };
    expect(withSaleBlocks(held, [refund], TODAY).released).toBe(false);
    expect(deduct({ ...scheduled(TODAY), released: false }, 1n, TODAY).released).toBe(false);
    expect(restore(deduct(held, 10n, TODAY), 5n, TODAY).released).toBe(false);
  });
});

describe('a set of blocks', () => {
  test('contains each reason and source once', () => {
    expect(addBlock([], dispute)).toEqual([dispute]);
    expect(addBlock([dispute], { ...dispute })).toEqual([dispute]);
    expect(addBlock([dispute], otherDispute)).toEqual([dispute, otherDispute]);
    expect(addBlock([dispute], refund)).toEqual([dispute, refund]);
  });

  test('loses only the block with that reason and source', () => {
    expect(removeBlock([dispute, otherDispute, refund], { ...dispute })).toEqual([otherDispute, refund]);
    expect(removeBlock([otherDispute, refund], dispute)).toEqual([otherDispute, refund]);
  });

  test('blocks an installment by each of them', () => {
    const installment = blocked([otherDispute, refund]);
    expect([dispute, otherDispute, refund].map((block) => isBlockedBy(installment, block))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test.each<[string, Installment, Installment, boolean]>([
    ['the same', blocked([dispute, refund]), blocked([refund, dispute]), false],
    ['none', scheduled(), scheduled(), false],
    ['one more', blocked([dispute]), blocked([dispute, refund]), true],
    ['one less', blocked([dispute, refund]), blocked([dispute]), true],
    ['another', blocked([dispute]), blocked([refund]), true],
    ['another of two', blocked([dispute, refund]), blocked([dispute, otherDispute]), true],
    ['one that does not hold it', settled(), withSaleBlocks(settled(), [dispute], TODAY), false],
  ])('changes the blocks in effect: %s', (_, before, after, otherwise) => {
    expect(isBlockedDifferently(before, after)).toBe(otherwise);
  });
});
