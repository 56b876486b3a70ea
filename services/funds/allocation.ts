import { least, sumOf } from '../platform/amounts.ts';
import type { CivilDate } from '../platform/civil-date.ts';
import {
  type Block,
  deduct,
  type Installment,
  isFree,
  isHeldBy,
  remainingMinor,
  restore,
  statusOf,
} from './sales/installment.ts';

/** An amount deducted from an installment, or restored to it. */
export interface Allocation {
  readonly before: Installment;
  readonly after: Installment;
  readonly amountMinor: bigint;
}

/** The unpaid rest of a deduction. */
export interface Debt {
  readonly sourceId: string;
  readonly openMinor: bigint;
}

/** An amount collected from an installment for a debt. */
export type DebtAllocation = Allocation & Pick<Debt, 'sourceId'>;

interface AllocationResult {
  readonly allocations: readonly Allocation[];
  /** The amount that the installments do not cover. */
  readonly missingMinor: bigint;
}

/**
 * Allocates a deduction: first to the sale's unreserved installments, nearest date first and on one date those that no
 * block holds first, then to the account's free ones, nearest date first. The missing amount becomes a debt.
 */
export function allocateDeduction(
  amountMinor: bigint,
  saleInstallments: readonly Installment[],
  scheduledInstallments: readonly Installment[],
  today: CivilDate,
): AllocationResult {
  const own = saleInstallments.filter(({ reservation }) => reservation === null).toSorted(unheldFirst);
  const ownIds = new Set(own.map(({ id }) => id));
  const others = scheduledInstallments
    .filter((installment) => isFree(installment) && !ownIds.has(installment.id))
    .toSorted(nearestFirst);
  return allocate(amountMinor, [...own, ...others], today);
}

/**
 * Deducts everything that a block holds, for a lost dispute; other blocks that hold the same installments lose them.
 * The part that the block could not hold is not deducted.
 */
export function allocateBlocked(
  saleInstallments: readonly Installment[],
  block: Block,
  today: CivilDate,
): Allocation[] {
  return saleInstallments
    .filter((installment) => isHeldBy(installment, block))
    .map((before) => {
      const amountMinor = remainingMinor(before);
      return { before, after: deduct(before, amountMinor, today), amountMinor };
    });
}

/** Allocates open debts, oldest first, to the account's free installments, nearest date first. */
export function allocateDebts(
  debts: readonly Debt[],
  scheduledInstallments: readonly Installment[],
  today: CivilDate,
): { debts: Debt[]; allocations: DebtAllocation[] } {
  const free = scheduledInstallments.filter(isFree).toSorted(nearestFirst);
  const installments = new Map(free.map((installment) => [installment.id, installment]));
  const allAllocations: DebtAllocation[] = [];
  const remainingDebts = debts.map((debt) => {
    const { allocations, missingMinor } = allocate(debt.openMinor, [...installments.values()], today);
    for (const allocation of allocations) {
      installments.set(allocation.after.id, allocation.after);
      allAllocations.push({ ...allocation, sourceId: debt.sourceId });
    }
    return { ...debt, openMinor: missingMinor };
  });
  return { debts: remainingDebts, allocations: allAllocations };
}

/**
 * The amount available to a refund: the released amount (already reduced by earlier refunds) less open debts, plus
 * what is blocked for this refund case. May be negative.
 */
export function availableMinor(
  releasedMinor: bigint,
  openDebtsMinor: bigint,
  saleInstallments: readonly Installment[] = [],
  refundBlock?: Block,
): bigint {
  const blockedForCase = saleInstallments.filter(
    (installment) => refundBlock !== undefined && isHeldBy(installment, refundBlock),
  );
  return releasedMinor - openDebtsMinor + sumOf(blockedForCase, remainingMinor);
}

/**
 * Allocates a refund that the available balance covers: first to the sale's installments that are released or held for
 * the case, latest date first and on one date those held first, then to the account's released installments, oldest
 * first.
 */
export function allocateRefund(
  amountMinor: bigint,
  {
    ofSale,
    released,
  }: { readonly ofSale: readonly Installment[]; readonly released: readonly Installment[] },
  refundBlock: Block,
  today: CivilDate,
): readonly Allocation[] {
  const own = ofSale
    .filter((installment) => statusOf(installment) === 'RELEASED' || isHeldBy(installment, refundBlock))
    .toSorted((one, other) => latestFirst(one, other, refundBlock));
  const ownIds = new Set(own.map(({ id }) => id));
  const others = released
    .filter((installment) => statusOf(installment) === 'RELEASED' && !ownIds.has(installment.id))
    .toSorted(nearestFirst);
  const { allocations, missingMinor } = allocate(amountMinor, [...own, ...others], today);
  if (missingMinor > 0n) throw new Error(`a refund of ${amountMinor} exceeds the available balance`);
  return allocations;
}

/** Restores a debit to the installments it was deducted from. */
export function reverse(
  debited: readonly { installmentId: string; amountMinor: bigint }[],
  installments: readonly Installment[],
  today: CivilDate,
): Allocation[] {
  const byId = new Map(installments.map((installment) => [installment.id, installment]));
  return debited.map(({ installmentId, amountMinor }) => {
    const before = byId.get(installmentId);
    if (before === undefined) throw new Error(`installment ${installmentId} of a debit does not exist`);
    return { before, after: restore(before, amountMinor, today), amountMinor };
  });
}

function allocate(
  amountMinor: bigint,
  installments: readonly Installment[],
  today: CivilDate,
): AllocationResult {
  const allocations: Allocation[] = [];
  let missingMinor = amountMinor;
  for (const before of installments) {
    const allocatedMinor = least(remainingMinor(before), missingMinor);
    if (allocatedMinor === 0n) continue;
    allocations.push({ before, after: deduct(before, allocatedMinor, today), amountMinor: allocatedMinor });
    missingMinor -= allocatedMinor;
  }
  return { allocations, missingMinor };
}

function unheldFirst(one: Installment, other: Installment): number {
  const isSameDate = one.date === other.date;
  const heldLast = isSameDate ? Number(one.heldBy.length > 0) - Number(other.heldBy.length > 0) : 0;
  return heldLast === 0 ? nearestFirst(one, other) : heldLast;
}

function latestFirst(one: Installment, other: Installment, refundBlock: Block): number {
  if (one.date !== other.date) return one.date < other.date ? 1 : -1;
  const heldFirst = Number(isHeldBy(other, refundBlock)) - Number(isHeldBy(one, refundBlock));
  return heldFirst === 0 ? nearestFirst(other, one) : heldFirst;
}

/** Ascending by date, then id. */
export function nearestFirst(one: Installment, other: Installment): number {
  const a = one.date + one.id;
  const b = other.date + other.id;
  return a < b ? -1 : a > b ? 1 : 0;
}
