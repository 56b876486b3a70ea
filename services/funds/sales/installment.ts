import { v5 as uuidv5 } from 'uuid';
import type { CivilDate } from '../../platform/civil-date.ts';
import type { ScheduledInstallment } from './sale-schedule.ts';

export type ReleaseStatus = 'BLOCKED' | 'RELEASED' | 'SCHEDULED';

export const BLOCK_REASONS = [
  'HOLD_OR_DISPUTE',
  'REFUND_IN_PROGRESS',
  'KYC_PENDING',
  'COMPLIANCE_HOLD',
] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** What holds funds of a sale: a dispute, a refund case or another source, by its id. */
export interface Block {
  readonly reason: BlockReason;
  readonly sourceId: string;
}

/** A block of a sale that has not been lifted. */
export interface OpenBlock extends Block {
  readonly id: string;
}

/**
 * An installment of a sale and its current state, or one of the parts into which holds have split it: parts have the
 * same sale, number and date, and add up to the installment. Each part is held as a whole or not at all. Amounts in
 * centavos.
 */
export interface Installment {
  readonly id: string;
  readonly saleId: string;
  /** Within the sale, from 1. */
  readonly number: number;
  /** Within the installment, from 1. */
  readonly part: number;
  /** Whether the installment has more than one part. */
  readonly split: boolean;
  /** The date on which it is released. */
  readonly date: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** The advance request that reserved it, and the amount promised to that request. */
  readonly reservation: { readonly advanceRequestId: string; readonly amountMinor: bigint } | null;
  readonly released: boolean;
  /** The blocks that hold it; empty when it is advanced or reserved, or nothing of it remains. */
  readonly heldBy: readonly OpenBlock[];
  /** Rises with every stored change. */
  readonly version: bigint;
}

/** An installment of a sale that is being recorded: released at once when its date has come. */
export function newInstallment(
  id: string,
  saleId: string,
  scheduled: ScheduledInstallment,
  today: CivilDate,
): Installment {
  return {
    id,
    saleId,
    ...scheduled,
    part: 1,
    split: false,
    deductedMinor: 0n,
    advancedMinor: 0n,
    reservation: null,
    released: scheduled.date <= today,
    heldBy: [],
    version: 1n,
  };
}

/** gross - fees: the merchant's share before deductions and advances. */
export function originalMinor(installment: Installment): bigint {
  return installment.grossMinor - installment.feesMinor;
}

/** What remains after deductions and advances. */
export function remainingMinor(installment: Installment): bigint {
  return originalMinor(installment) - installment.deductedMinor - installment.advancedMinor;
}

/** What blocks may hold of it: the remaining amount, unless it is advanced or reserved. */
export function holdableMinor(installment: Installment): bigint {
  const isPromised = installment.advancedMinor > 0n || installment.reservation !== null;
  return isPromised ? 0n : remainingMinor(installment);
}

/** The status of the release row that it counts in. */
export function statusOf(installment: Installment): ReleaseStatus {
  if (installment.heldBy.length > 0) return 'BLOCKED';
  return installment.released ? 'RELEASED' : 'SCHEDULED';
}

/** Whether debts may reduce it and an advance may cover it. */
export function isFree(installment: Installment): boolean {
  return (
    statusOf(installment) === 'SCHEDULED' &&
    installment.reservation === null &&
    remainingMinor(installment) > 0n
  );
}

/** Whether the open block of this reason and source holds it. */
export function isHeldBy(installment: Installment, block: Block): boolean {
  return installment.heldBy.some((open) => isSameBlock(open, block));
}

/** Makes a block hold the installment, which must have a holdable amount. */
export function hold(installment: Installment, block: OpenBlock): Installment {
  if (holdableMinor(installment) === 0n) throw new Error(`cannot hold installment ${installment.id}`);
  if (isHeldBy(installment, block)) return installment;
  const { id, reason, sourceId } = block;
  return { ...installment, heldBy: [...installment.heldBy, { id, reason, sourceId }] };
}

/** Makes a block stop holding the installment. */
export function unhold(installment: Installment, block: Block, today: CivilDate): Installment {
  const heldBy = installment.heldBy.filter((open) => !isSameBlock(open, block));
  return changed(installment, { heldBy }, today);
}

/**
 * Splits off a part with this remaining amount, less than the holdable one, and its share of the fees, rounded down.
 * Everything else stays with the rest: earlier deductions, its id and so its postings.
 */
export function splitOff(
  installment: Installment,
  amountMinor: bigint,
  part: number,
): { readonly part: Installment; readonly rest: Installment } {
  if (amountMinor <= 0n || amountMinor >= holdableMinor(installment)) {
    throw new Error(`cannot split ${amountMinor} off installment ${installment.id}`);
  }
  const feesMinor = (installment.feesMinor * amountMinor) / originalMinor(installment);
  const grossMinor = amountMinor + feesMinor;
  const id = partId(installment, part);
  return {
    part: { ...installment, id, part, split: true, grossMinor, feesMinor, deductedMinor: 0n, version: 1n },
    rest: {
      ...installment,
      split: true,
      grossMinor: installment.grossMinor - grossMinor,
      feesMinor: installment.feesMinor - feesMinor,
    },
  };
}

/** Deducts an amount, at most what remains of an unreserved installment. */
export function deduct(installment: Installment, amountMinor: bigint, today: CivilDate): Installment {
  const isReserved = installment.reservation !== null;
  if (amountMinor < 0n || amountMinor > remainingMinor(installment) || isReserved) {
    throw new Error(`cannot deduct ${amountMinor} from installment ${installment.id}`);
  }
  return changed(installment, { deductedMinor: installment.deductedMinor + amountMinor }, today);
}

/** Restores an amount that was deducted before. */
export function restore(installment: Installment, amountMinor: bigint, today: CivilDate): Installment {
  if (amountMinor < 0n || amountMinor > installment.deductedMinor) {
    throw new Error(`cannot restore ${amountMinor} to installment ${installment.id}`);
  }
  return changed(installment, { deductedMinor: installment.deductedMinor - amountMinor }, today);
}

/** Promises what remains of a free installment to an advance. */
export function reserve(installment: Installment, advanceRequestId: string): Installment {
  return { ...installment, reservation: { advanceRequestId, amountMinor: remainingMinor(installment) } };
}

/** Ends a reservation without payout. */
export function free(installment: Installment): Installment {
  return { ...installment, reservation: null };
}

/** Ends a reservation with its payout. */
export function settle(installment: Installment): Installment {
  const promisedMinor = installment.reservation?.amountMinor ?? 0n;
  return { ...installment, reservation: null, advancedMinor: installment.advancedMinor + promisedMinor };
}

/** Releases a scheduled, unreserved installment on its date. */
export function release(installment: Installment): Installment {
  return { ...installment, released: true };
}

export function isSameBlock(one: Block, other: Block): boolean {
  return one.reason === other.reason && one.sourceId === other.sourceId;
}

/**
 * Applies a change. An installment with nothing remaining is no longer held; one that leaves BLOCKED is released or
 * scheduled by its date.
 */
function changed(installment: Installment, change: Partial<Installment>, today: CivilDate): Installment {
  const after = { ...installment, ...change };
  const heldBy = remainingMinor(after) === 0n ? [] : after.heldBy;
  const isUnblocked = installment.heldBy.length > 0 && heldBy.length === 0;
  return { ...after, heldBy, released: after.released || (isUnblocked && after.date <= today) };
}

const PART_IDS = '6f9c2a34-3a0e-4d5b-9b3e-5f0c8a1d7e42';

/** The id of a part: derived from its sale, number and part, which identify it too, so splitting needs no randomness. */
function partId({ saleId, number }: Installment, part: number): string {
  return uuidv5(`${saleId}/${number}/${part}`, PART_IDS);
}
