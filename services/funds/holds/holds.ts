import { sumOf } from '../../platform/amounts.ts';
import type { CivilDate } from '../../platform/civil-date.ts';
import { nearestFirst } from '../allocation.ts';
import type { InstallmentChange } from '../releases/release-rows.ts';
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
} from '../sales/installment.ts';

/** An open block, and the amount in centavos that it should hold now, by the rules of sale-rest.ts. */
export interface Hold extends OpenBlock {
  readonly wantedMinor: bigint;
}

/** The amount that a block holds of its sale's installments. */
export function heldMinor(installments: readonly Installment[], block: Block): bigint {
  const held = installments.filter((each) => isHeldBy(each, block));
  return sumOf(held, remainingMinor);
}

/**
 * Makes the open blocks of a sale, oldest first, hold the amounts that they should. `installments` are all those of the
 * sale. Only installments that are neither advanced nor reserved are held, latest date first, and split where a block
 * needs a portion: a block of 130 centavos holds all 100 of the last installment, and 30 split off the one before it. A
 * block shares what others hold only while nothing of the sale is unheld, and what is still unmet then is left for a later
 * change.
 */
export function adjustHolds(
  installments: readonly Installment[],
  holds: readonly Hold[],
  today: CivilDate,
): InstallmentChange[] {
  const sale = new SaleParts(installments, today);
  for (const block of holds) sale.returnExcess(block);
  for (const block of holds) {
    sale.holdUnheld(block);
    // It may have had to share before, and now holds enough of its own.
    sale.returnExcess(block);
    sale.share(block);
  }
  return sale.changes();
}

/** The sales of changed installments of which blocks may now hold more or less. */
export function salesToHold(changes: readonly InstallmentChange[]): string[] {
  return changes
    .filter(({ before, after }) => (before ? holdableMinor(before) : 0n) !== holdableMinor(after))
    .map(({ after }) => after.saleId);
}

/**
 * Like `adjustHolds`, for the open blocks of several sales after changes.
 * @param stored all installments of these sales before the changes.
 */
export function adjustHoldsOfSales(
  stored: readonly Installment[],
  changes: readonly InstallmentChange[],
  holds: ReadonlyMap<string, readonly Hold[]>,
  today: CivilDate,
): InstallmentChange[] {
  const current = new Map([...stored, ...changes.map(({ after }) => after)].map((each) => [each.id, each]));
  const bySale = Map.groupBy(current.values(), ({ saleId }) => saleId);
  return [...holds].flatMap(([saleId, open]) => adjustHolds(bySale.get(saleId) ?? [], open, today));
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

  /** Makes a block that holds too much hold less: shared parts first, nearest date first. */
  returnExcess(block: Hold): void {
    const all = this.#all();
    const held = all.filter((part) => isHeldBy(part, block));
    const sharedFirst = held.toSorted(
      (one, other) => Number(isShared(other)) - Number(isShared(one)) || nearestFirst(one, other),
    );
    const excessMinor = heldMinor(all, block) - block.wantedMinor;
    this.#change(sharedFirst, excessMinor, (part) => unhold(part, block, this.#today));
  }

  /** Adds parts that no block holds, until the block needs to share none. */
  holdUnheld(block: Hold): void {
    const alone = this.#all().filter((part) => !isShared(part));
    this.#extend(block, block.wantedMinor - heldMinor(alone, block), ({ heldBy }) => heldBy.length === 0);
  }

  /** Adds parts that other blocks hold, until the block holds its amount. */
  share(block: Hold): void {
    const missingMinor = block.wantedMinor - heldMinor(this.#all(), block);
    this.#extend(block, missingMinor, (part) => !isHeldBy(part, block));
  }

  changes(): InstallmentChange[] {
    return [...this.#parts.values()]
      .filter(({ now }) => this.#given.get(now.id) !== now)
      .map(({ now, from }) => {
        const before = this.#given.get(now.id);
        return before ? { before, after: now } : { before: null, after: now, splitFrom: from };
      });
  }

  /** Adds the block to holdable parts, latest date first, up to an amount. */
  #extend(block: OpenBlock, amountMinor: bigint, isCandidate: (part: Installment) => boolean): void {
    const candidates = this.#all().filter((part) => holdableMinor(part) > 0n && isCandidate(part));
    const latestFirst = candidates.toSorted((one, other) => nearestFirst(other, one));
    this.#change(latestFirst, amountMinor, (part) => hold(part, block));
  }

  #all(): Installment[] {
    return [...this.#parts.values()].map(({ now }) => now);
  }

  /** Changes whole parts in this order, and splits the last one, until the amount is reached; none if it is negative. */
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
