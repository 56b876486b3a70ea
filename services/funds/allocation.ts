import type { CivilDate } from '../platform/civil-date.ts';
import {
  type Block,
  deduct,
  isBlockedBy,
  isFree,
  leftMinor,
  type Part,
  restore,
  statusOf,
} from './installment.ts';

/** An amount taken from a part, or given back to it. */
export interface Taking {
  readonly before: Part;
  readonly after: Part;
  readonly amountMinor: bigint;
}

/** A deduction that the merchant's parts could not bear in full. */
export interface Debt {
  readonly sourceId: string;
  readonly openMinor: bigint;
}

interface Took {
  readonly takings: readonly Taking[];
  /** What the parts could not give. */
  readonly missingMinor: bigint;
}

/**
 * A deduction: from the sale's parts, nearest date first, then from the free ones of the account, nearest date first.
 * What is missing in the end becomes a debt.
 */
export function takeDeduction(
  amountMinor: bigint,
  saleParts: readonly Part[],
  scheduledParts: readonly Part[],
  today: CivilDate,
): Took {
  const own = saleParts.filter((part) => part.reservation === null).toSorted(nearestFirst);
  const ownIds = new Set(own.map((part) => part.id));
  const others = scheduledParts.filter((part) => isFree(part) && !ownIds.has(part.id)).toSorted(nearestFirst);
  return take(amountMinor, [...own, ...others], today);
}

/** Takes all that a block holds: what a lost dispute consumes. */
export function takeBlocked(saleParts: readonly Part[], block: Block, today: CivilDate): Taking[] {
  return saleParts
    .filter((part) => isBlockedBy(part, block))
    .map((before) => {
      const amountMinor = leftMinor(before);
      return { before, after: deduct(before, amountMinor, today), amountMinor };
    });
}

/** Open debts, oldest first, taken from the free parts of the account, nearest date first. */
export function takeDebts(
  debts: readonly Debt[],
  scheduledParts: readonly Part[],
  today: CivilDate,
): { debts: Debt[]; takings: (Taking & { sourceId: string })[] } {
  const parts = new Map(
    scheduledParts
      .filter(isFree)
      .toSorted(nearestFirst)
      .map((part) => [part.id, part]),
  );
  const takings: (Taking & { sourceId: string })[] = [];
  const paid = debts.map((debt) => {
    const took = take(debt.openMinor, [...parts.values()], today);
    for (const taking of took.takings) {
      parts.set(taking.after.id, taking.after);
      takings.push({ ...taking, sourceId: debt.sourceId });
    }
    return { ...debt, openMinor: took.missingMinor };
  });
  return { debts: paid, takings };
}

/**
 * What a refund may use: what is released (debits of earlier refunds are off it), less open debts, plus what is blocked
 * for this very case. May be negative.
 */
export function availableMinor(
  releasedMinor: bigint,
  openDebtsMinor: bigint,
  saleParts: readonly Part[] = [],
  refundBlock?: Block,
): bigint {
  const heldForCase = saleParts
    .filter((part) => refundBlock !== undefined && isBlockedBy(part, refundBlock))
    .reduce((sum, part) => sum + leftMinor(part), 0n);
  return releasedMinor - openDebtsMinor + heldForCase;
}

/**
 * A refund's debit, which the available balance covers: the sale's own parts, blocked for the case or released, latest
 * date first, then released parts of the account, oldest first.
 */
export function takeRefund(
  amountMinor: bigint,
  saleParts: readonly Part[],
  releasedParts: readonly Part[],
  refundBlock: Block,
  today: CivilDate,
): readonly Taking[] {
  const own = saleParts
    .filter((part) => statusOf(part) === 'RELEASED' || isBlockedBy(part, refundBlock))
    .toSorted((one, other) => nearestFirst(other, one));
  const ownIds = new Set(own.map((part) => part.id));
  const others = releasedParts
    .filter((part) => statusOf(part) === 'RELEASED' && !ownIds.has(part.id))
    .toSorted(nearestFirst);
  const { takings, missingMinor } = take(amountMinor, [...own, ...others], today);
  if (missingMinor > 0n)
    throw new RangeError(`a refund of ${amountMinor} was let past the available balance`);
  return takings;
}

/** Gives a debit back to the parts it was taken from. */
export function giveBack(
  taken: readonly { partId: string; amountMinor: bigint }[],
  parts: readonly Part[],
  today: CivilDate,
): Taking[] {
  const byId = new Map(parts.map((part) => [part.id, part]));
  return taken.map(({ partId, amountMinor }) => {
    const before = byId.get(partId);
    if (before === undefined) throw new RangeError(`part ${partId} of a debit is not there`);
    return { before, after: restore(before, amountMinor, today), amountMinor };
  });
}

function take(amountMinor: bigint, parts: readonly Part[], today: CivilDate): Took {
  const takings: Taking[] = [];
  let missingMinor = amountMinor;
  for (const before of parts) {
    const taken = smaller(leftMinor(before), missingMinor);
    if (taken === 0n) continue;
    takings.push({ before, after: deduct(before, taken, today), amountMinor: taken });
    missingMinor -= taken;
  }
  return { takings, missingMinor };
}

function smaller(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

function nearestFirst(one: Part, other: Part): number {
  const [a, b] = [one.date + one.id, other.date + other.id];
  return a < b ? -1 : a > b ? 1 : 0;
}
