import type { CivilDate } from '../platform/civil-date.ts';
import type { ScheduledPart } from './sale-schedule.ts';

export type ReleaseStatus = 'BLOCKED' | 'RELEASED' | 'SCHEDULED';

export const BLOCK_REASONS = [
  'HOLD_OR_DISPUTE',
  'REFUND_IN_PROGRESS',
  'KYC_PENDING',
  'COMPLIANCE_HOLD',
] as const;
export type BlockReason = (typeof BLOCK_REASONS)[number];

/** What holds a sale's funds: a dispute, a refund case or another hold, by its id. */
export interface Block {
  readonly reason: BlockReason;
  readonly sourceId: string;
}

/** A part (instalment) of a sale and what has become of it. Amounts in centavos. */
export interface Part {
  readonly id: string;
  readonly saleId: string;
  readonly installment: number;
  readonly date: CivilDate;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly deductedMinor: bigint;
  readonly advancedMinor: bigint;
  /** The advance request that has it reserved, and the amount promised to it. */
  readonly reservation: { readonly advanceRequestId: string; readonly amountMinor: bigint } | null;
  readonly released: boolean;
  /** The open blocks of its sale, whether they hold this part or not. */
  readonly saleBlocks: readonly Block[];
  /** Rises with every stored change. */
  readonly version: bigint;
}

/** A part of a sale just recorded: released at once when its date has come. */
export function newPart(id: string, saleId: string, scheduled: ScheduledPart, today: CivilDate): Part {
  const untouched = { deductedMinor: 0n, advancedMinor: 0n, reservation: null, saleBlocks: [], version: 1n };
  return { id, saleId, ...scheduled, ...untouched, released: scheduled.date <= today };
}

/** gross - fees: what the merchant is due before anything is taken. */
export function originalMinor(part: Part): bigint {
  return part.grossMinor - part.feesMinor;
}

/** What is left after deductions and advances. */
export function leftMinor(part: Part): bigint {
  return originalMinor(part) - part.deductedMinor - part.advancedMinor;
}

/** The blocks that hold the part: its sale's, unless it is advanced or reserved, or nothing of it is left. */
export function blocksOf(part: Part): readonly Block[] {
  const untouchable = part.advancedMinor > 0n || part.reservation !== null || leftMinor(part) === 0n;
  return untouchable ? [] : part.saleBlocks;
}

/** The release row, of those of its date, in which the part counts. */
export function statusOf(part: Part): ReleaseStatus {
  if (blocksOf(part).length > 0) return 'BLOCKED';
  return part.released ? 'RELEASED' : 'SCHEDULED';
}

/** Whether debts may take from the part, and an advance may cover it. */
export function isFree(part: Part): boolean {
  return statusOf(part) === 'SCHEDULED' && part.reservation === null && leftMinor(part) > 0n;
}

export function isBlockedBy(part: Part, block: Block): boolean {
  return blocksOf(part).some((held) => isSameBlock(held, block));
}

/** Takes an amount, at most what is left of an unreserved part. */
export function deduct(part: Part, amountMinor: bigint, today: CivilDate): Part {
  if (amountMinor < 0n || amountMinor > leftMinor(part) || part.reservation !== null) {
    throw new RangeError(`part ${part.id} cannot give ${amountMinor}`);
  }
  return changed(part, { deductedMinor: part.deductedMinor + amountMinor }, today);
}

/** Gives back an amount once deducted. */
export function restore(part: Part, amountMinor: bigint, today: CivilDate): Part {
  if (amountMinor < 0n || amountMinor > part.deductedMinor) {
    throw new RangeError(`part ${part.id} cannot get ${amountMinor} back`);
  }
  return changed(part, { deductedMinor: part.deductedMinor - amountMinor }, today);
}

/** The same part under another set of open blocks of its sale. */
export function withSaleBlocks(part: Part, saleBlocks: readonly Block[], today: CivilDate): Part {
  return changed(part, { saleBlocks }, today);
}

/** Promises what is left of a free part to an advance. */
export function reserve(part: Part, advanceRequestId: string): Part {
  return { ...part, reservation: { advanceRequestId, amountMinor: leftMinor(part) } };
}

/** Ends a reservation unpaid; the open blocks of the sale hold the part from now on. */
export function free(part: Part): Part {
  return { ...part, reservation: null };
}

/** Ends a reservation paid. */
export function settle(part: Part): Part {
  const promised = part.reservation?.amountMinor ?? 0n;
  return { ...part, reservation: null, advancedMinor: part.advancedMinor + promised };
}

/** Releases a scheduled, unreserved part on its date. */
export function release(part: Part): Part {
  return { ...part, released: true };
}

/** Whether a part is held by other blocks than before, in its row or out of it. */
export function isHeldOtherwise(before: Part, after: Part): boolean {
  const held = blocksOf(after);
  return blocksOf(before).length !== held.length || !held.every((block) => isBlockedBy(before, block));
}

/** A set of blocks with one more; the same set when it is there. */
export function addBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  return blocks.some((held) => isSameBlock(held, block)) ? blocks : [...blocks, block];
}

/** A set of blocks without one. */
export function removeBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  return blocks.filter((held) => !isSameBlock(held, block));
}

function isSameBlock(one: Block, other: Block): boolean {
  return one.reason === other.reason && one.sourceId === other.sourceId;
}

/** A part that leaves BLOCKED goes back by its date. */
function changed(part: Part, change: Partial<Part>, today: CivilDate): Part {
  const after = { ...part, ...change };
  const unblocked = statusOf(part) === 'BLOCKED' && statusOf(after) !== 'BLOCKED';
  return unblocked && after.date <= today ? { ...after, released: true } : after;
}
