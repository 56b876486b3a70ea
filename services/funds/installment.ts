import type { CivilDate } from '../platform/civil-date.ts';
import type { ScheduledInstallment } from './sale-schedule.ts';

export type ReleaseStatus = 'BLOCKED' | 'RELEASED' | 'SCHEDULED';

export const BLOCK_REASONS = [
  'HOLD_OR_DISPUTE',
  'REFUND_IN_PROGRESS',
  'KYC_PENDING',
  'COMPLIANCE_HOLD',
] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** What blocks a sale's funds: a dispute, a refund case or another hold, by its id. */
export interface Block {
  readonly reason: BlockReason;
  readonly sourceId: string;
}

/** An installment of a sale and its current state. Amounts in centavos. */
export interface Installment {
  readonly id: string;
  readonly saleId: string;
  /** Within the sale, from 1. */
  readonly number: number;
  /** The date on which it is released. */
  readonly date: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** The advance request that reserved it, and the amount promised to that request. */
  readonly reservation: { readonly advanceRequestId: string; readonly amountMinor: bigint } | null;
  readonly released: boolean;
  /** The open blocks of its sale, whether or not they block this installment. */
  readonly saleBlocks: readonly Block[];
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
    deductedMinor: 0n,
    advancedMinor: 0n,
    reservation: null,
    released: scheduled.date <= today,
    saleBlocks: [],
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

/** The blocks in effect: its sale's, unless it is advanced or reserved, or nothing of it remains. */
export function blocksOf(installment: Installment): readonly Block[] {
  const cannotBeBlocked =
    installment.advancedMinor > 0n || installment.reservation !== null || remainingMinor(installment) === 0n;
  return cannotBeBlocked ? [] : installment.saleBlocks;
}

/** The status of the release row that it counts in. */
export function statusOf(installment: Installment): ReleaseStatus {
  if (blocksOf(installment).length > 0) return 'BLOCKED';
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

export function isBlockedBy(installment: Installment, block: Block): boolean {
  return blocksOf(installment).some((open) => isSameBlock(open, block));
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

/** The installment with another set of open blocks of its sale. */
export function withSaleBlocks(
  installment: Installment,
  saleBlocks: readonly Block[],
  today: CivilDate,
): Installment {
  return changed(installment, { saleBlocks }, today);
}

/** Promises what remains of a free installment to an advance. */
export function reserve(installment: Installment, advanceRequestId: string): Installment {
  return { ...installment, reservation: { advanceRequestId, amountMinor: remainingMinor(installment) } };
}

/** Ends a reservation without payout; the sale's open blocks apply again. */
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

/** Whether a change adds or removes a block in effect. */
export function isBlockedDifferently(before: Installment, after: Installment): boolean {
  const blocks = blocksOf(after);
  return blocksOf(before).length !== blocks.length || !blocks.every((block) => isBlockedBy(before, block));
}

/** A set of blocks with one more; the same set when it contains the block already. */
export function addBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  return blocks.some((open) => isSameBlock(open, block)) ? blocks : [...blocks, block];
}

/** A set of blocks without one of them. */
export function removeBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  return blocks.filter((open) => !isSameBlock(open, block));
}

function isSameBlock(one: Block, other: Block): boolean {
  return one.reason === other.reason && one.sourceId === other.sourceId;
}

/** Applies a change. An installment that leaves BLOCKED is released or scheduled by its date. */
function changed(installment: Installment, change: Partial<Installment>, today: CivilDate): Installment {
  const after = { ...installment, ...change };
  const unblocked = statusOf(installment) === 'BLOCKED' && statusOf(after) !== 'BLOCKED';
  return unblocked && after.date <= today ? { ...after, released: true } : after;
}
