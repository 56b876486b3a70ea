import type { CivilDate } from '../platform/civil-date.ts';
import { nearestFirst } from './allocation.ts';
import {
  type Block,
  hold,
  holdableMinor,
  type Installment,
  isHeldBy,
  type OpenBlock,
  remainingMinor,
  splitOff,
  unhold,
} from './installment.ts';
import type { InstallmentChange } from './release-rows.ts';

/** An open block, and the amount in centavos that it should hold now. */
export interface Hold extends OpenBlock {
  readonly wantedMinor: bigint;
}

/** What determines how much the blocks of a sale should hold. */
export interface HeldSale {
  /** Captured amount in centavos; undefined until the sale is recorded. */
  readonly capturedMinor: bigint | undefined;
  /** The debits of the sale's refunds that have not been reversed, by refund case. */
  readonly refundsMinor: ReadonlyMap<string, bigint>;
  /** The amount deducted for lost disputes of the sale, in centavos. */
  readonly lostMinor: bigint;
}

/** The total of a sale's refunds and lost disputes. */
const usedMinor = ({ refundsMinor, lostMinor }: HeldSale): bigint => sumOf(refundsMinor.values()) + lostMinor;

/**
 * What is left of a sale: captured less all refunds and lost disputes. Undefined until it is recorded. The refunds and lost
 * disputes of a sale, of whichever of its payments, never cost the merchant more than the sale.
 */
function restMinorOf(sale: HeldSale): bigint | undefined {
  const { capturedMinor } = sale;
  return capturedMinor === undefined ? undefined : atLeastZero(capturedMinor - usedMinor(sale));
}

/**
 * The most that a refund may use because of its sale: what other refunds and lost disputes have left of it. Undefined while
 * they have taken nothing: the first refund is limited by its payment, and may exceed a sale whose recorded amount is less.
 */
export function refundLimitMinor(sale: HeldSale): bigint | undefined {
  return usedMinor(sale) === 0n ? undefined : restMinorOf(sale);
}

/** Whether a block holds no more than the rest of its sale. */
export const isLimitedByRest = ({
  reason,
  amountMinor,
}: Pick<OpenBlock, 'reason'> & { readonly amountMinor: bigint | null }) =>
  amountMinor === null || reason === 'HOLD_OR_DISPUTE';

/**
 * The amount that a block should hold: its own, less what its refund has been debited; without an amount, the rest of
 * the sale: captured less all refunds and lost disputes. A dispute holds no more than that rest, because the customer
 * cannot get the same money twice. Nothing else lowers the amount: if a deduction or another, lost block takes from held
 * installments, the sale's other installments replace what it took. Undefined for the rest of a sale that is not
 * recorded, and for a dispute of such a sale of which something was refunded or lost: it may be the same money.
 */
export function wantedMinor(
  { reason, sourceId, amountMinor }: Block & { readonly amountMinor: bigint | null },
  sale: HeldSale,
): bigint | undefined {
  if (reason === 'REFUND_IN_PROGRESS' && amountMinor !== null) {
    return atLeastZero(amountMinor - (sale.refundsMinor.get(sourceId) ?? 0n));
  }
  if (amountMinor !== null && !isLimitedByRest({ reason, amountMinor })) return amountMinor;
  const restMinor = restMinorOf(sale);
  if (restMinor === undefined) return usedMinor(sale) === 0n ? (amountMinor ?? undefined) : undefined;
  return amountMinor !== null && amountMinor < restMinor ? amountMinor : restMinor;
}

/** A dispute of an amount of a sale, which was lost. Amounts in centavos. */
export interface LostDispute {
  readonly sourceId: string;
  readonly amountMinor: bigint;
  /** The amount deducted for it so far, from the sale and from other funds. */
  readonly deductedMinor: bigint;
}

/**
 * The amounts to deduct for lost disputes when a refund of their sale is reversed: what they were lost for, but the
 * refund had already returned to the customer. The dispute that was lost first comes first.
 */
export function deductionsOnReversal(
  disputes: readonly LostDispute[],
  before: HeldSale,
  after: HeldSale,
): { sourceId: string; amountMinor: bigint }[] {
  let lostMinor = after.lostMinor;
  return disputes.flatMap(({ sourceId, amountMinor, deductedMinor }) => {
    const block = { reason: 'HOLD_OR_DISPUTE', sourceId, amountMinor } as const;
    const was = wantedMinor(block, { ...before, lostMinor: before.lostMinor - deductedMinor }) ?? 0n;
    const is = wantedMinor(block, { ...after, lostMinor: lostMinor - deductedMinor }) ?? 0n;
    const minor = is - (was > deductedMinor ? was : deductedMinor);
    if (minor <= 0n) return [];
    lostMinor += minor;
    return [{ sourceId, amountMinor: minor }];
  });
}

/** The amount that a block holds of its sale's installments. */
export function heldMinor(installments: readonly Installment[], block: Block): bigint {
  return sumOf(installments.filter((each) => isHeldBy(each, block)).map(remainingMinor));
}

/**
 * Makes the open blocks of a sale, oldest first, hold the amounts that they should. `installments` are all those of the
 * sale. Only installments that are neither advanced nor reserved are held, latest date first, and split where a block
 * needs a portion. A block shares what others hold only while nothing of the sale is unheld, and what is still unmet
 * then is left for a later change. A block that holds too much returns shared installments first, nearest date first.
 */
export function adjustHolds(
  installments: readonly Installment[],
  holds: readonly Hold[],
  today: CivilDate,
): InstallmentChange[] {
  const sale = new SaleParts(installments, today);
  for (const block of holds) sale.reduce(block, sale.heldMinor(block) - block.wantedMinor);
  for (const block of holds) {
    sale.extend(block, block.wantedMinor - sale.heldAloneMinor(block), ({ heldBy }) => heldBy.length === 0);
    const missingMinor = block.wantedMinor - sale.heldMinor(block);
    sale.reduce(block, -missingMinor);
    sale.extend(block, missingMinor, (part) => !isHeldBy(part, block));
  }
  return sale.changes();
}

/** The parts of a sale while its holds are adjusted. */
class SaleParts {
  readonly #today: CivilDate;
  readonly #given: ReadonlyMap<string, Installment>;
  /** By id; a part that was split off comes with the given part it came from. */
  readonly #parts = new Map<string, { readonly now: Installment; readonly from: Installment }>();

  constructor(installments: readonly Installment[], today: CivilDate) {
    this.#today = today;
    this.#given = new Map(installments.map((each) => [each.id, each]));
    for (const each of installments) this.#parts.set(each.id, { now: each, from: each });
  }

  heldMinor(block: OpenBlock): bigint {
    return heldMinor(this.#all(), block);
  }

  heldAloneMinor(block: OpenBlock): bigint {
    return heldMinor(
      this.#all().filter((part) => !isShared(part)),
      block,
    );
  }

  /** Adds the block to holdable parts, latest date first, up to an amount; negative is none. */
  extend(block: OpenBlock, amountMinor: bigint, isCandidate: (part: Installment) => boolean): void {
    const candidates = this.#all().filter((part) => holdableMinor(part) > 0n && isCandidate(part));
    const latestFirst = candidates.toSorted((one, other) => nearestFirst(other, one));
    this.#change(latestFirst, amountMinor, (part) => hold(part, block));
  }

  /** Removes the block from its parts, shared ones first, nearest date first, up to an amount; negative is none. */
  reduce(block: OpenBlock, amountMinor: bigint): void {
    const held = this.#all().filter((part) => isHeldBy(part, block));
    const sharedFirst = held.toSorted(
      (one, other) => Number(isShared(other)) - Number(isShared(one)) || nearestFirst(one, other),
    );
    this.#change(sharedFirst, amountMinor, (part) => unhold(part, block, this.#today));
  }

  changes(): InstallmentChange[] {
    return [...this.#parts.values()]
      .filter(({ now }) => this.#given.get(now.id) !== now)
      .map(({ now, from }) => {
        const before = this.#given.get(now.id);
        return before ? { before, after: now } : { before: null, after: now, splitFrom: from };
      });
  }

  #all(): Installment[] {
    return [...this.#parts.values()].map(({ now }) => now);
  }

  /** Changes whole parts in this order, and splits the last one, until the amount is reached. */
  #change(
    parts: readonly Installment[],
    amountMinor: bigint,
    change: (part: Installment) => Installment,
  ): void {
    let missingMinor = amountMinor;
    for (const part of parts) {
      if (missingMinor <= 0n) return;
      const { from } = this.#parts.get(part.id)!;
      const piece = missingMinor < remainingMinor(part) ? this.#split(part, missingMinor) : part;
      this.#parts.set(piece.id, { now: change(piece), from });
      missingMinor -= remainingMinor(piece);
    }
  }

  #split(installment: Installment, amountMinor: bigint): Installment {
    const siblings = this.#all().filter(({ number }) => number === installment.number);
    const { part, rest } = splitOff(installment, amountMinor, siblings.length + 1);
    this.#parts.set(rest.id, { ...this.#parts.get(rest.id)!, now: rest });
    return part;
  }
}

const isShared = (part: Installment) => part.heldBy.length > 1;

const atLeastZero = (minor: bigint) => (minor > 0n ? minor : 0n);

function sumOf(amounts: Iterable<bigint>): bigint {
  let sum = 0n;
  for (const amount of amounts) sum += amount;
  return sum;
}
