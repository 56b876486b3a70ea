import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  applyToReleases,
  blockedReasons,
  type ReleaseRow,
  rowKey,
  rowOriginalMinor,
  rowRemainingMinor,
} from '../../../services/funds/releases/release-rows.ts';
import {
  BLOCK_REASONS,
  holdableMinor,
  isFree,
  isHeldBy,
  originalMinor,
  remainingMinor,
  statusOf,
} from '../../../services/funds/sales/installment.ts';
import { MAX_AMOUNT_MINOR } from '../../../services/platform/amounts.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { FundsModel } from './funds-model.ts';

const amount = fc.oneof(fc.bigInt(1n, 300n), fc.bigInt(1n, 100_000n), fc.constant(MAX_AMOUNT_MINOR));
const installments = fc.oneof(
  { weight: 29, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: 7, max: 99 }) },
);
const pick = fc.nat(1000);
/** A sale that blocks name before it is recorded. */
const UNRECORDED = 'sale-unrecorded';
const source = fc.constantFrom('s1', 's2', 's3');

/** One command on the account, with objects picked from the existing ones. */
const commands = {
  sell: fc.tuple(fc.boolean(), amount, fc.integer({ min: 0, max: 100 }), installments),
  deduct: fc.tuple(fc.option(pick), amount, fc.option(source)),
  reverseDeduction: fc.tuple(source),
  block: fc.tuple(fc.nat(1100), fc.constantFrom(...BLOCK_REASONS), source, fc.option(amount)),
  unblock: fc.tuple(pick, fc.boolean()),
  reserve: fc.tuple(source, fc.array(pick, { minLength: 1, maxLength: 3 }), fc.boolean()),
  free: fc.tuple(source),
  settle: fc.tuple(source),
  refund: fc.tuple(source, fc.option(pick), amount),
  reverse: fc.tuple(source),
  nextDays: fc.tuple(fc.integer({ min: 1, max: 40 })),
  releaseDue: fc.constant([] as const),
};

type Step = {
  [Name in keyof typeof commands]: [Name, Values<(typeof commands)[Name]>];
}[keyof typeof commands];
type Values<A> = A extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  ...Object.entries(commands).map(([name, values]) => ({
    weight: name === 'sell' ? 3 : 1,
    arbitrary: (values as fc.Arbitrary<unknown>).map((given) => [name, given] as unknown as Step),
  })),
);

test('no order of commands breaks the sums, creates or loses money, or uses what is promised', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const model = new FundsModel();
      for (const next of steps) {
        const promised = reservedAmounts(model);
        run(model, next);
        checkRows(model);
        checkShares(model);
        checkHolds(model);
        checkMoney(model);
        checkSales(model);
        checkPromises(model, promised);
      }
    }),
    { numRuns: propertyRuns(200) },
  );
}, 600_000);

type Play = {
  [Name in keyof typeof commands]: (model: FundsModel, given: Values<(typeof commands)[Name]>) => void;
};

const play: Play = {
  sell(model, [card, gross, feePercent, installments]) {
    const fees = (gross * BigInt(feePercent)) / 100n;
    const method = card ? 'CARD' : 'INSTANT_TRANSFER';
    const sale = {
      method,
      grossMinor: gross,
      feesMinor: fees,
      installments: card ? installments : 1,
    } as const;
    const isAwaited =
      model.blocks.some(({ saleId }) => saleId === UNRECORDED) && !model.sales.has(UNRECORDED);
    model.sell(sale, isAwaited ? UNRECORDED : undefined);
  },
  deduct(model, [index, amountMinor, sourceId]) {
    // A deduction by hand under the id of a dispute may take more than is left of its sale.
    if (sourceId !== null && (model.deductions.has(sourceId) || isDispute(model, sourceId))) return;
    model.deduct(index === null ? undefined : saleAt(model, index), amountMinor, sourceId ?? undefined);
  },
  reverseDeduction(model, [sourceId]) {
    model.reverseDeduction(sourceId);
    expect(model.reverseDeduction(sourceId)).toEqual({ restoredMinor: 0n, canceledMinor: 0n });
  },
  block(model, [index, reason, sourceId, amountMinor]) {
    // Sometimes a sale that is recorded later.
    const saleId = index > 1000 ? UNRECORDED : saleAt(model, index);
    if (model.deductions.has(sourceId) && !isDispute(model, sourceId)) return;
    model.block(saleId, { reason, sourceId }, amountMinor);
  },
  unblock(model, [index, lost]) {
    if (model.blocks.length > 0) model.unblock(model.blocks[index % model.blocks.length]!, lost);
  },
  reserve(model, [id, picks, stale]) {
    if (model.reservedFor(id).length > 0) return;
    const installments = [...model.installments.values()];
    const chosen = picks.map((index) => installments[index % installments.length]!);
    const asQuoted = chosen.every((installment) => isFree(installment) && installment.date > model.today);
    const distinct = new Set(chosen).size === chosen.length;
    const quoted = chosen.map((installment) => ({
      installmentId: installment.id,
      version: installment.version - (stale ? 1n : 0n),
    }));
    expect(model.reserve(id, quoted)).toBe(asQuoted && distinct && !stale);
  },
  free(model, [id]) {
    model.free(id);
  },
  settle(model, [id]) {
    model.settle(id);
  },
  refund(model, [caseId, index, amountMinor]) {
    const saleId = index === null ? undefined : saleAt(model, index);
    const debts = model.openDebtsMinor();
    const covered = !model.debits.has(caseId) && amountMinor <= model.available(caseId, saleId);
    expect(model.refund(caseId, saleId, amountMinor)).toBe(covered);
    // It may pay debts: a hold on the rest of the sale shrinks by what is refunded, which frees funds.
    expect(model.openDebtsMinor()).toBeLessThanOrEqual(debts);
  },
  reverse(model, [caseId]) {
    model.reverse(caseId);
  },
  nextDays(model, [days]) {
    model.nextDays(days);
  },
  releaseDue(model) {
    model.releaseDue();
    expect(model.releaseDue()).toBe(0);
  },
};

function run(model: FundsModel, [name, given]: Step): void {
  const needsSale = name !== 'sell' && name !== 'nextDays' && name !== 'block';
  if (needsSale && model.sales.size === 0) return;
  (play[name] as (model: FundsModel, given: unknown) => void)(model, given);
}

function saleAt(model: FundsModel, index: number): string {
  return [...model.sales.keys()][index % model.sales.size] ?? UNRECORDED;
}

// Made after each command, hundreds of thousands of times: Node's assertions take a tenth of the time of Vitest's.

/** (A) to (C), (F), the exact range, and that the stored rows equal those recomputed from the installments. */
function checkRows(model: FundsModel): void {
  const byKey = (rows: Iterable<Parameters<typeof rowKey>[0]>) =>
    new Map([...rows].map((row) => [rowKey(row), row]));
  const summedAnew = applyToReleases(
    [],
    [...model.installments.values()].map((after) => ({ before: null, after })),
  );
  assert.deepEqual(byKey(model.rows.values()), byKey(summedAnew));
  const byRow = Map.groupBy(model.installments.values(), (installment) =>
    rowKey({ date: installment.date, status: statusOf(installment) }),
  );
  const days = new Map<string, ReleaseRow[]>();
  for (const row of model.rows.values()) {
    const left = rowRemainingMinor(row);
    assert(row.feesMinor >= 0n && row.feesMinor <= row.grossMinor && left >= 0n);
    assert(row.deductedMinor >= 0n && row.deductedMinor <= rowOriginalMinor(row) - row.advancedMinor);
    assert.equal(row.status === 'BLOCKED', blockedReasons(row).length > 0);
    if (row.status === 'BLOCKED') assert(left > 0n);
    const inRow = byRow.get(rowKey(row)) ?? [];
    assert.equal(row.salesCount, new Set(inRow.map((installment) => installment.saleId)).size);
    assert.deepEqual(
      new Set(blockedReasons(row)),
      new Set(inRow.flatMap(({ heldBy }) => heldBy).map(({ reason }) => reason)),
    );
    days.set(row.date, [...(days.get(row.date) ?? []), row]);
  }
  const byDate = Map.groupBy(model.installments.values(), ({ date }) => date);
  for (const [date, rows] of days) {
    const grossMinor = rows.reduce((sum, row) => sum + row.grossMinor, 0n);
    assert(grossMinor <= MAX_AMOUNT_MINOR);
    const firstParts = rows.reduce((sum, row) => sum + row.firstParts, 0);
    assert.equal(firstParts, new Set(byDate.get(date)!.map(({ saleId }) => saleId)).size);
  }
}

/** (D): the parts of a sale add up to it, whatever was split, and none has more fees than gross. */
function checkShares(model: FundsModel): void {
  const bySale = Map.groupBy(model.installments.values(), ({ saleId }) => saleId);
  for (const [saleId, parts] of bySale) {
    const { grossMinor, feesMinor, installments } = model.sales.get(saleId)!;
    const sum = (of: (part: (typeof parts)[number]) => bigint) =>
      parts.reduce((all, part) => all + of(part), 0n);
    assert.deepEqual(
      [sum((part) => part.grossMinor), sum((part) => part.feesMinor)],
      [grossMinor, feesMinor],
    );
    for (const part of parts) assert(part.feesMinor >= 0n && part.feesMinor <= part.grossMinor);
    const byNumber = Map.groupBy(parts, ({ number }) => number);
    assert.equal(byNumber.size, installments);
    for (const ofInstallment of byNumber.values()) {
      const [first] = ofInstallment;
      assert.deepEqual(
        ofInstallment.map(({ part }) => part).sort((a, b) => a - b),
        ofInstallment.map((_, n) => n + 1),
      );
      assert(
        ofInstallment.every(({ date, split }) => date === first!.date && split === ofInstallment.length > 1),
      );
    }
  }
}

/**
 * Every block holds what it should, or all that its sale has, and shares with others only while nothing of the sale is
 * unheld; what is held is neither advanced nor reserved.
 */
function checkHolds(model: FundsModel): void {
  const open = new Set(model.blocks.map(({ id }) => id));
  for (const part of model.installments.values()) {
    if (part.heldBy.length > 0) assert(holdableMinor(part) > 0n);
    assert.equal(new Set(part.heldBy.map(({ id }) => id)).size, part.heldBy.length);
    assert(part.heldBy.every(({ id }) => open.has(id)));
  }
  for (const block of model.blocks) {
    const parts = model.installmentsOf(block.saleId);
    if (parts.length === 0) continue;
    const sum = (some: typeof parts) => some.reduce((all, part) => all + holdableMinor(part), 0n);
    const held = parts.filter((part) => isHeldBy(part, block));
    const wanted = model.wantedMinor(block)!;
    const holdable = sum(parts);
    assert.equal(sum(held), wanted < holdable ? wanted : holdable);
    const isAnyUnheld = parts.some((part) => part.heldBy.length === 0 && holdableMinor(part) > 0n);
    if (isAnyUnheld) assert(held.every(({ heldBy }) => heldBy.length === 1));
  }
}

/** (E), that charged and advanced amounts are all accounted for, and that debts are open only if nothing is free. */
function checkMoney(model: FundsModel): void {
  let deducted = 0n;
  let advanced = 0n;
  for (const installment of model.installments.values()) {
    deducted += installment.deductedMinor;
    advanced += installment.advancedMinor;
    assert(installment.deductedMinor >= 0n && remainingMinor(installment) >= 0n);
    assert(installment.deductedMinor <= originalMinor(installment) - installment.advancedMinor);
    if (model.debts.length > 0) assert(!isFree(installment));
  }
  assert.equal(deducted + model.openDebtsMinor(), model.chargedMinor);
  assert.equal(advanced, model.advancedMinor);
}

const isDispute = (model: FundsModel, sourceId: string) =>
  [...model.blocks, ...model.lost].some((block) => block.sourceId === sourceId);

/** Refunds and lost disputes of a sale never exceed it together, though one refund alone may. */
function checkSales(model: FundsModel): void {
  for (const saleId of model.sales.keys()) {
    const { capturedMinor, refundsMinor, lostMinor } = model.usedSale(saleId);
    const refundedMinor = [...refundsMinor.values()].reduce((sum, minor) => sum + minor, 0n);
    if (refundsMinor.size === 1 && lostMinor === 0n) continue;
    expect(refundedMinor + lostMinor).toBeLessThanOrEqual(capturedMinor!);
  }
}

/**
 * A reserved installment is scheduled and keeps its promised amount; a blocked one is neither advanced nor reserved.
 */
function checkPromises(model: FundsModel, before: ReadonlyMap<string, string>): void {
  for (const installment of model.installments.values()) {
    if (statusOf(installment) === 'BLOCKED')
      assert(installment.advancedMinor === 0n && installment.reservation === null);
    if (installment.reservation === null) continue;
    assert.equal(statusOf(installment), 'SCHEDULED');
    assert(remainingMinor(installment) >= installment.reservation.amountMinor);
    const promised = `${installment.reservation.advanceRequestId} ${installment.reservation.amountMinor}`;
    assert.equal(before.get(installment.id) ?? promised, promised);
  }
}

function reservedAmounts(model: FundsModel): Map<string, string> {
  const reserved = [...model.installments.values()].filter((installment) => installment.reservation !== null);
  return new Map(
    reserved.map((installment) => [
      installment.id,
      `${installment.reservation!.advanceRequestId} ${installment.reservation!.amountMinor}`,
    ]),
  );
}
