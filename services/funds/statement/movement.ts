import { sumOf } from '../../platform/amounts.ts';
import { type CivilDate, civilDateAt, startOfDay } from '../../platform/civil-date.ts';
import type { DebtAllocation } from '../allocation.ts';
import type { PostingKind } from '../funds.entity.ts';
import type { InstallmentChange } from '../releases/release-rows.ts';
import { type Block, type Installment, isSameBlock, remainingMinor, statusOf } from '../sales/installment.ts';
import type { NewSale } from '../sales/new-sales.ts';

/** What changes the balances of an account. */
export type MovementKind =
  | 'SALE'
  | 'RELEASE'
  | 'BLOCK'
  | 'UNBLOCK'
  | 'CONSUMPTION'
  | 'DEDUCTION'
  | 'DEDUCTION_REVERSAL'
  | 'DEBT_COLLECTION'
  | 'DEBT_PAYMENT'
  | 'REFUND'
  | 'REFUND_REVERSAL'
  | 'ADVANCE';

/** The balances of an account, or changes of them, in centavos. */
export interface Balances {
  /** Released less open debts. */
  readonly availableMinor: bigint;
  readonly scheduledMinor: bigint;
  readonly blockedMinor: bigint;
}

/** Why the balances change. */
export interface MovementCause {
  readonly kind: MovementKind;
  readonly sourceId: string | null;
  readonly saleId: string | null;
  readonly releaseDate: CivilDate | null;
  readonly blockReason: Block['reason'] | null;
}

/** An entry of the statement. */
export interface Movement extends MovementCause, Balances {
  readonly occurredAt: Date;
}

const NONE: Balances = { availableMinor: 0n, scheduledMinor: 0n, blockedMinor: 0n };
const BALANCE_OF = {
  RELEASED: 'availableMinor',
  SCHEDULED: 'scheduledMinor',
  BLOCKED: 'blockedMinor',
} as const;

/** The kinds of postings that a command makes for amounts that it deducts from installments, or restores. */
export type AllocatedKind = Exclude<PostingKind, 'DEBT' | 'DEDUCTION_REVERSAL' | 'CONSUMPTION_REVERSAL'>;

/** The kinds of movements that deduct an amount from installments, or restore it, by the kind of its postings. */
export const MOVEMENT_OF_POSTING = {
  DEDUCTION: 'DEDUCTION',
  CONSUMPTION: 'CONSUMPTION',
  REFUND_DEBIT: 'REFUND',
  REFUND_REVERSAL: 'REFUND_REVERSAL',
  ADVANCE: 'ADVANCE',
} as const satisfies Record<AllocatedKind, MovementKind>;

/** Adds balances up. */
export function plus(one: Balances, other: Balances): Balances {
  return {
    availableMinor: one.availableMinor + other.availableMinor,
    scheduledMinor: one.scheduledMinor + other.scheduledMinor,
    blockedMinor: one.blockedMinor + other.blockedMinor,
  };
}

/** A cause with a source. */
export function causeOf(kind: MovementKind, sourceId: string, saleId: string | null = null): MovementCause {
  return { kind, sourceId, saleId, releaseDate: null, blockReason: null };
}

/** The cause of a change to what a block holds of a sale. */
export function blockCause(kind: MovementKind, { reason, sourceId }: Block, saleId: string): MovementCause {
  return { ...causeOf(kind, sourceId, saleId), blockReason: reason };
}

/**
 * The movement that changes of installments make, and a debt that lowers the available balance, if any; none when they
 * leave every balance as it is.
 */
export function movementOf(
  cause: MovementCause,
  changes: Iterable<InstallmentChange>,
  occurredAt: Date,
  debtMinor = 0n,
): Movement[] {
  let sum: Balances = { ...NONE, availableMinor: -debtMinor };
  for (const { before, after } of changes) {
    if (before !== null) sum = withRemaining(sum, before, -1n);
    sum = withRemaining(sum, after, 1n);
  }
  return isNone(sum) ? [] : [{ ...cause, ...sum, occurredAt }];
}

/** The movement of a new sale, whose installments nothing holds yet. */
export function saleMovement({ id, installments, capturedAt }: NewSale): Movement[] {
  const changes = installments.map((after) => ({ before: null, after }));
  return movementOf(causeOf('SALE', id, id), changes, capturedAt);
}

/** The movements that released installments make, one for each date. They take effect on their date, not later. */
export function releaseMovements(changes: readonly InstallmentChange[], at: Date): Movement[] {
  const cause = { kind: 'RELEASE', sourceId: null, saleId: null, blockReason: null } as const;
  const today = civilDateAt(at);
  const byDate = Map.groupBy(changes, ({ after }) => after.date);
  return [...byDate].flatMap(([releaseDate, ofDate]) =>
    movementOf({ ...cause, releaseDate }, ofDate, releaseDate < today ? startOfDay(releaseDate) : at),
  );
}

/** The movements of debts collected from installments, one for each debt. */
export function debtCollectionMovements(collected: readonly DebtAllocation[], occurredAt: Date): Movement[] {
  const bySource = Map.groupBy(collected, ({ sourceId }) => sourceId);
  return [...bySource].flatMap(([sourceId, ofDebt]) => {
    const collectedMinor = sumOf(ofDebt, ({ amountMinor }) => amountMinor);
    return movementOf(causeOf('DEBT_COLLECTION', sourceId), ofDebt, occurredAt, -collectedMinor);
  });
}

/** The movements of changes to what blocks hold, as `adjustHolds` returns them: one for each block. */
export function holdMovements(adjustments: readonly InstallmentChange[], occurredAt: Date): Movement[] {
  const movements = new Map<string, Movement>();
  for (const { before, after, splitFrom } of adjustments) {
    // A part that was split off starts where its installment was.
    const was = before ?? splitFrom!;
    const [from, to] = [statusOf(was), statusOf(after)];
    if (from === to) continue;
    const isHeld = to === 'BLOCKED';
    const [holders, others] = isHeld ? [after.heldBy, was.heldBy] : [was.heldBy, after.heldBy];
    const block = holders.find((each) => !others.some((other) => isSameBlock(each, other)))!;
    const cause = blockCause(isHeld ? 'BLOCK' : 'UNBLOCK', block, after.saleId);
    const key = `${cause.kind} ${block.id}`;
    const minor = remainingMinor(after);
    const moved = { ...NONE, [BALANCE_OF[from]]: -minor, [BALANCE_OF[to]]: minor };
    movements.set(key, { ...cause, ...plus(movements.get(key) ?? NONE, moved), occurredAt });
  }
  return [...movements.values()].filter((movement) => !isNone(movement));
}

function withRemaining(sum: Balances, installment: Installment, sign: 1n | -1n): Balances {
  const balance = BALANCE_OF[statusOf(installment)];
  return { ...sum, [balance]: sum[balance] + sign * remainingMinor(installment) };
}

const isNone = (change: Balances) =>
  change.availableMinor === 0n && change.scheduledMinor === 0n && change.blockedMinor === 0n;
