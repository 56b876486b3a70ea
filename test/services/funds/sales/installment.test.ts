import { describe, expect, test } from 'vitest';
import {
  deduct,
  free,
  hold,
  holdableMinor,
  type Installment,
  isFree,
  isHeldBy,
  newInstallment,
  type OpenBlock,
  originalMinor,
  release,
  remainingMinor,
  reserve,
  restore,
  settle,
  splitOff,
  statusOf,
  unhold,
} from '../../../../services/funds/sales/installment.ts';

const TODAY = '2026-11-16';
const BEFORE = '2026-11-15';
const AFTER = '2026-11-17';
const dispute: OpenBlock = { id: '1', reason: 'HOLD_OR_DISPUTE', sourceId: 'one' };
const otherDispute: OpenBlock = { id: '2', reason: 'HOLD_OR_DISPUTE', sourceId: 'other' };
const refund: OpenBlock = { id: '3', reason: 'REFUND_IN_PROGRESS', sourceId: 'one' };

/** An installment of 100 centavos gross and 10 of fees, scheduled for tomorrow. */
const scheduled = (date = AFTER): Installment =>
  newInstallment('installment', 'sale', { number: 2, date, grossMinor: 100n, feesMinor: 10n }, TODAY);
const blocked = (heldBy: readonly OpenBlock[], date = AFTER): Installment => ({ ...scheduled(date), heldBy });
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
      part: 1,
      split: false,
      heldBy: [],
      version: 1n,
      released,
    });
  });

  test('remains in full: gross minus fees', () => {
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

  test('is BLOCKED while a block holds it, whether scheduled or released', () => {
    expect(statusOf(blocked([dispute]))).toBe('BLOCKED');
    expect(statusOf(blocked([dispute], BEFORE))).toBe('BLOCKED');
  });

  test('an installment is free while it is scheduled, not reserved, and has a remaining amount', () => {
    expect(isFree(scheduled())).toBe(true);
    const others = [release(scheduled()), reserve(scheduled(), 'advance'), blocked([dispute])];
    expect([...others, deduct(scheduled(), 90n, TODAY)].map(isFree)).toEqual([false, false, false, false]);
  });
});

describe('a held installment', () => {
  test.each<[string, Installment, bigint]>([
    ['with nothing deducted', scheduled(), 90n],
    ['with a deduction', deduct(scheduled(), 30n, TODAY), 60n],
    ['that is advanced in part', { ...scheduled(), advancedMinor: 1n }, 0n],
    ['that is reserved', reserve(scheduled(), 'advance'), 0n],
    ['with nothing left', deduct(scheduled(), 90n, TODAY), 0n],
  ])('has a holdable amount: %s', (_, installment, amount) => {
    expect(holdableMinor(installment)).toBe(amount);
    if (amount > 0n) expect(hold(installment, dispute)).toEqual({ ...installment, heldBy: [dispute] });
    else expect(() => hold(installment, dispute)).toThrow('cannot hold installment installment');
  });

  test('is held once by each reason and source', () => {
    const twice = hold(hold(scheduled(), dispute), { ...dispute });
    expect(twice.heldBy).toEqual([dispute]);
    expect(hold(hold(twice, otherDispute), refund).heldBy).toEqual([dispute, otherDispute, refund]);
  });

  test('is no longer held by the block that is removed, and by no other', () => {
    const held = blocked([dispute, otherDispute, refund]);
    const { id: _, ...withoutId } = dispute;
    const after = unhold(held, withoutId, TODAY);
    expect(after.heldBy).toEqual([otherDispute, refund]);
    expect([dispute, otherDispute, refund].map((block) => isHeldBy(after, block))).toEqual([
      false,
      true,
      true,
    ]);
    expect(unhold(after, dispute, TODAY)).toEqual(after);
  });

  test('stays held after a deduction until nothing is left', () => {
    expect(deduct(blocked([dispute]), 89n, TODAY).heldBy).toEqual([dispute]);
    expect(deduct(blocked([dispute]), 90n, TODAY).heldBy).toEqual([]);
  });
});

describe('an installment that leaves BLOCKED', () => {
  test.each([
    [BEFORE, 'RELEASED'],
    [TODAY, 'RELEASED'],
    [AFTER, 'SCHEDULED'],
  ])('dated %s becomes %s', (date, status) => {
    const held = { ...blocked([dispute], date), released: false };
    expect(statusOf(unhold(held, dispute, TODAY))).toBe(status);
    expect(statusOf(deduct(held, 90n, TODAY))).toBe(status);
  });

  test('is released only then, not while another block holds it', () => {
    const held = { ...blocked([dispute, refund], TODAY), released: false };
    expect(unhold(held, dispute, TODAY).released).toBe(false);
    expect(deduct({ ...scheduled(TODAY), released: false }, 1n, TODAY).released).toBe(false);
    expect(restore(deduct(held, 10n, TODAY), 5n, TODAY).released).toBe(false);
  });

  test('stays released if it was before', () => {
    const held = { ...blocked([dispute]), released: true };
    expect(unhold(held, dispute, TODAY).released).toBe(true);
  });
});

describe('a split', () => {
  const whole = deduct(blocked([dispute]), 20n, TODAY);

  test.each([
    [1n, 0n],
    [8n, 0n],
    [9n, 1n],
    [35n, 3n],
    [69n, 7n],
  ])('takes %s off with %s of the fees, and leaves everything else', (amount, fees) => {
    const { part, rest } = splitOff(whole, amount, 2);
    expect(remainingMinor(part)).toBe(amount);
    expect(part).toEqual({
      ...whole,
      id: part.id,
      part: 2,
      split: true,
      grossMinor: amount + fees,
      feesMinor: fees,
      deductedMinor: 0n,
    });
    expect(rest).toEqual({
      ...whole,
      split: true,
      grossMinor: 100n - amount - fees,
      feesMinor: 10n - fees,
    });
  });

  test('derives a distinct, stable id for each part of each installment', () => {
    const ids = [2, 3, 2].map((part) => splitOff(whole, 1n, part).part.id);
    ids.push(
      splitOff({ ...whole, number: 3 }, 1n, 2).part.id,
      splitOff({ ...whole, saleId: 'x' }, 1n, 2).part.id,
    );
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('starts a new part at version 1', () => {
    expect(splitOff({ ...whole, version: 7n }, 1n, 2)).toMatchObject({
      part: { version: 1n },
      rest: { version: 7n },
    });
  });

  test.each([-1n, 0n, 70n, 71n])('is refused unless both have a remaining amount: %s', (amount) => {
    expect(() => splitOff(whole, amount, 2)).toThrow(`cannot split ${amount} off installment installment`);
  });

  test('is refused for a reserved installment', () => {
    expect(() => splitOff(reserve(scheduled(), 'advance'), 1n, 2)).toThrow('cannot split 1 ');
  });
});
