import {
  type QuotedInstallment,
  reserveQuoted,
  settleReserved,
} from '../../../services/funds/advances/reservation.ts';
import {
  type Allocation,
  allocateBlocked,
  allocateDebts,
  allocateDeduction,
  allocateRefund,
  availableMinor,
  type Debt,
  reverse,
} from '../../../services/funds/allocation.ts';
import { adjustHolds, heldMinor } from '../../../services/funds/holds/holds.ts';
import {
  applyToReleases,
  type InstallmentChange,
  mergeChanges,
  type ReleaseRow,
  requireExactSums,
  rowKey,
} from '../../../services/funds/releases/release-rows.ts';
import type { Block, Installment, OpenBlock } from '../../../services/funds/sales/installment.ts';
import * as rules from '../../../services/funds/sales/installment.ts';
import {
  deductionsOnReversal,
  refundLimitMinor,
  type UsedSale,
  wantedMinor,
} from '../../../services/funds/sales/sale-rest.ts';
import { type SaleMethod, scheduleSale } from '../../../services/funds/sales/sale-schedule.ts';
import { addDays, type CivilDate } from '../../../services/platform/civil-date.ts';
import { DomainError } from '../../../services/platform/errors.ts';

export interface ModelSale {
  readonly method: SaleMethod;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly installments: number;
}

/** An open block; without an amount, for the rest of its sale. */
export type ModelBlock = OpenBlock & { readonly saleId: string; readonly amountMinor: bigint | null };

/** A block for a dispute that was lost. */
interface LostBlock {
  readonly id: string;
  readonly saleId: string;
  readonly sourceId: string;
  readonly amountMinor: bigint | null;
  readonly on: CivilDate;
}

interface ModelDeduction {
  readonly saleId: string | undefined;
  readonly amountMinor: bigint;
  readonly on: CivilDate;
}

interface ModelDebit {
  readonly saleId: string | undefined;
  readonly amountMinor: bigint;
  readonly postings: readonly { readonly installmentId: string; readonly amountMinor: bigint }[];
}

/** An account in memory: the pure rules as the use cases combine them, without database, RPC or clock. */
export class FundsModel {
  today: CivilDate = '2026-11-16';
  installments = new Map<string, Installment>();
  rows = new Map<string, ReleaseRow>();
  sales = new Map<string, ModelSale>();
  /** Oldest first; some are of unrecorded sales. */
  blocks: readonly ModelBlock[] = [];
  debts: (Debt & { readonly on: CivilDate })[] = [];
  debits = new Map<string, ModelDebit>();
  lost: readonly LostBlock[] = [];
  /** What lost blocks have consumed, by sale and source. */
  consumed = new Map<string, bigint>();
  /** What sources have deducted and not restored, by source and installment. */
  taken = new Map<string, ReadonlyMap<string, bigint>>();
  reversed = new Set<string>();
  /** By source. */
  deductions = new Map<string, ModelDeduction>();
  /** Everything deducted so far, net of reversals: what the installments and the open debts must add up to. */
  chargedMinor = 0n;
  advancedMinor = 0n;
  #counter = 0;

  /** Whether the sums stay in range. Installments get the given ids, or new ones. */
  sell(sale: ModelSale, saleId = this.#id('sale'), ids?: readonly string[]): boolean {
    const changes = scheduleSale({ ...sale, capturedOn: this.today }).map(
      (scheduled, index): InstallmentChange => {
        const id = ids?.[index] ?? this.#id('installment');
        return { before: null, after: rules.newInstallment(id, saleId, scheduled, this.today) };
      },
    );
    const rows = new Map(this.rows);
    for (const row of applyToReleases(rows.values(), changes)) rows.set(rowKey(row), row);
    if (isRefused(() => requireExactSums(rows.values()))) return false;
    this.sales.set(saleId, sale);
    this.#store(changes);
    return true;
  }

  /** The amount that became a debt. Of debts of one day, the one with the lower source id is paid first. */
  deduct(saleId: string | undefined, amountMinor: bigint, sourceId = this.#id('debt')): bigint {
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    const free = [...this.installments.values()];
    const { allocations, missingMinor } = allocateDeduction(amountMinor, own, free, this.today);
    this.chargedMinor += amountMinor;
    this.#take(sourceId, allocations);
    const earlier = this.deductions.get(sourceId) ?? { amountMinor: 0n, on: this.today };
    const open = this.debts.find((debt) => debt.sourceId === sourceId);
    const on = missingMinor > 0n && !open ? this.today : earlier.on;
    this.deductions.set(sourceId, { saleId, amountMinor: earlier.amountMinor + amountMinor, on });
    if (missingMinor > 0n) {
      this.debts = this.debts.filter((debt) => debt !== open);
      this.debts.push({ sourceId, openMinor: missingMinor + (open?.openMinor ?? 0n), on });
      this.debts.sort((one, other) => (one.on + one.sourceId < other.on + other.sourceId ? -1 : 1));
    }
    this.#store(allocations);
    return missingMinor;
  }

  #take(sourceId: string, allocations: readonly Allocation[]): void {
    const taken = new Map(this.taken.get(sourceId));
    for (const { before, amountMinor } of allocations) {
      taken.set(before.id, (taken.get(before.id) ?? 0n) + amountMinor);
    }
    this.taken.set(sourceId, taken);
  }

  /** Restores what a source deducted and cancels its debt; returns both amounts. */
  reverseDeduction(sourceId: string): { restoredMinor: bigint; canceledMinor: bigint } {
    const debt = this.debts.find((each) => each.sourceId === sourceId);
    const canceledMinor = debt?.openMinor ?? 0n;
    const deductedOf = this.reversed.has(sourceId) ? undefined : this.deductions.get(sourceId)?.saleId;
    const lostOf = this.lost.filter((block) => block.sourceId === sourceId).map(({ saleId }) => saleId);
    const saleIds = [
      ...new Set([...lostOf, ...this.consumedOf(sourceId), ...(deductedOf ? [deductedOf] : [])]),
    ];
    const before = saleIds.toSorted().map((id) => [id, this.usedSale(id)] as const);
    const taken = [...(this.taken.get(sourceId) ?? [])]
      .filter(([, amountMinor]) => amountMinor > 0n)
      .map(([installmentId, amountMinor]) => ({ installmentId, amountMinor }))
      .toSorted((one, other) => (one.installmentId < other.installmentId ? -1 : 1));
    const restoredMinor = taken.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    const allocations = reverse(taken, [...this.installments.values()], this.today);
    this.taken.delete(sourceId);
    this.debts = this.debts.filter((each) => each !== debt);
    this.lost = this.lost.filter((block) => block.sourceId !== sourceId);
    for (const key of [...this.consumed.keys()]) if (key.endsWith(` ${sourceId}`)) this.consumed.delete(key);
    const { amountMinor = 0n, on = this.today, saleId } = this.deductions.get(sourceId) ?? {};
    this.deductions.set(sourceId, { saleId, amountMinor, on });
    this.reversed.add(sourceId);
    this.chargedMinor -= restoredMinor + canceledMinor;
    this.#store(allocations);
    for (const [id, sale] of before) this.#deductLost(id, sale);
    return { restoredMinor, canceledMinor };
  }

  /** The sales of which a source's blocks have consumed something, for whichever reason. */
  consumedOf(sourceId: string): string[] {
    return [...this.consumed.keys()]
      .filter((key) => key.endsWith(` ${sourceId}`))
      .map((key) => key.split(' ')[0]!);
  }

  /** Pays open debts of this amount at least, oldest first. */
  payDebts(amountMinor: bigint): void {
    let leftMinor = amountMinor;
    this.debts = this.debts.flatMap((debt) => {
      const paidMinor = leftMinor < debt.openMinor ? leftMinor : debt.openMinor;
      leftMinor -= paidMinor;
      return paidMinor === debt.openMinor ? [] : [{ ...debt, openMinor: debt.openMinor - paidMinor }];
    });
    this.chargedMinor -= amountMinor;
    this.#store([]);
  }

  /** Opens a block, if it is not open already. */
  block(saleId: string, block: Block, amountMinor: bigint | null): void {
    if (this.findBlock(saleId, block)) return;
    const { reason, sourceId } = block;
    this.blocks = [...this.blocks, { id: this.#id('block'), saleId, reason, sourceId, amountMinor }];
    this.#store([]);
  }

  /** Gives the amount of a lost dispute of the rest of a sale to its block. */
  fixLostRest(saleId: string, block: Block, amountMinor: bigint): void {
    const open = this.findBlock(saleId, block);
    if (open?.reason !== 'HOLD_OR_DISPUTE' || open.amountMinor !== null || !this.sales.has(saleId)) return;
    this.blocks = this.blocks.map((each) => (each === open ? { ...open, amountMinor } : each));
    this.#store([]);
  }

  unblock({ id, saleId, reason }: ModelBlock, lost: boolean): void {
    const block = this.blocks.find((open) => open.id === id)!;
    this.blocks = this.blocks.filter((open) => open !== block);
    const held = this.installmentsOf(saleId).filter((installment) => rules.isHeldBy(installment, block));
    if (lost) {
      const allocations = allocateBlocked(held, block, this.today);
      const takenMinor = allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0n);
      this.chargedMinor += takenMinor;
      this.#take(block.sourceId, allocations);
      const { sourceId, amountMinor } = block;
      const key = `${saleId} ${sourceId}`;
      this.consumed.set(key, (this.consumed.get(key) ?? 0n) + takenMinor);
      if (reason === 'HOLD_OR_DISPUTE') {
        this.lost = [...this.lost, { id, saleId, sourceId, amountMinor, on: this.today }];
      }
      this.#store(allocations);
    } else {
      this.#store(held.map((before) => ({ before, after: rules.unhold(before, block, this.today) })));
    }
  }

  findBlock(saleId: string, { reason, sourceId }: Block): ModelBlock | undefined {
    return this.blocks.find(
      (open) => open.saleId === saleId && open.reason === reason && open.sourceId === sourceId,
    );
  }

  /** What a block holds, and what it should hold; the latter is undefined for the rest of an unrecorded sale. */
  holding(block: ModelBlock): { heldMinor: bigint; unmetMinor: bigint | undefined } {
    const held = heldMinor(this.installmentsOf(block.saleId), block);
    const wanted = this.wantedMinor(block);
    return { heldMinor: held, unmetMinor: wanted === undefined ? undefined : wanted - held };
  }

  wantedMinor(block: ModelBlock): bigint | undefined {
    return wantedMinor(block, this.usedSale(block.saleId));
  }

  /** What has been refunded of a sale, and what lost disputes have deducted. */
  usedSale(saleId: string): UsedSale {
    const refunds = [...this.debits].filter(([, debit]) => debit.saleId === saleId);
    const refundsMinor = new Map(refunds.map(([caseId, { amountMinor }]) => [caseId, amountMinor]));
    const sources = new Set(
      this.lost.filter((block) => block.saleId === saleId).map((block) => block.sourceId),
    );
    const lostMinor = [...sources].reduce((sum, source) => sum + this.#takenMinor(saleId, source), 0n);
    return { capturedMinor: this.sales.get(saleId)?.grossMinor, refundsMinor, lostMinor };
  }

  #takenMinor(saleId: string, sourceId: string): bigint {
    const deduction = this.deductions.get(sourceId);
    const isLive = deduction?.saleId === saleId && !this.reversed.has(sourceId);
    const deductedMinor = isLive ? deduction.amountMinor : 0n;
    return (this.consumed.get(`${saleId} ${sourceId}`) ?? 0n) + deductedMinor;
  }

  reserve(advanceRequestId: string, quoted: readonly QuotedInstallment[]): boolean {
    const installments = [...this.installments.values()];
    return !isRefused(() => this.#store(reserveQuoted(quoted, installments, advanceRequestId, this.today)));
  }

  free(advanceRequestId: string): void {
    this.#store(this.reservedFor(advanceRequestId).map((before) => ({ before, after: rules.free(before) })));
  }

  /** Whether no covered date has come. */
  settle(advanceRequestId: string): boolean {
    return !isRefused(() => {
      const allocations = settleReserved(this.reservedFor(advanceRequestId), this.today);
      this.advancedMinor += allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
      this.#store(allocations);
    });
  }

  /** Whether what is available to it covers the refund. */
  refund(caseId: string, saleId: string | undefined, amountMinor: bigint): boolean {
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    if (this.debits.has(caseId) || amountMinor > this.available(caseId, saleId)) return false;
    const installments = { ofSale: own, released: [...this.installments.values()] };
    const allocations = allocateRefund(amountMinor, installments, refundBlock(caseId), this.today);
    const postings = allocations.map((each) => ({
      installmentId: each.before.id,
      amountMinor: each.amountMinor,
    }));
    this.debits.set(caseId, { saleId, amountMinor, postings });
    this.chargedMinor += amountMinor;
    this.#store(allocations);
    return true;
  }

  reverse(caseId: string): void {
    const { postings: debited, saleId } = this.debits.get(caseId) ?? { postings: [], saleId: undefined };
    const before = saleId === undefined ? undefined : this.usedSale(saleId);
    this.debits.delete(caseId);
    this.chargedMinor -= debited.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    this.#store(reverse(debited, [...this.installments.values()], this.today));
    if (saleId !== undefined && before) this.#deductLost(saleId, before);
  }

  #deductLost(saleId: string, before: UsedSale): void {
    const blocks = this.lost
      .filter((block) => block.saleId === saleId)
      .toSorted((one, other) => (one.on + one.id < other.on + other.id ? -1 : 1))
      .flatMap(({ sourceId, amountMinor }) =>
        amountMinor === null
          ? []
          : [{ sourceId, amountMinor, deductedMinor: this.#takenMinor(saleId, sourceId) }],
      );
    const disputes = [...new Map(blocks.map((block) => [block.sourceId, block])).values()];
    for (const { sourceId, amountMinor } of deductionsOnReversal(disputes, before, this.usedSale(saleId))) {
      const earlier = this.deductions.get(sourceId);
      const isOpen = !earlier || (earlier.saleId === saleId && !this.reversed.has(sourceId));
      if (isOpen) this.deduct(saleId, amountMinor, sourceId);
    }
  }

  nextDays(days: number): void {
    this.today = addDays(this.today, days);
  }

  /** A copy of the account, to continue differently. */
  clone(): FundsModel {
    const copy = new FundsModel();
    copy.today = this.today;
    copy.installments = new Map(this.installments);
    copy.rows = new Map(this.rows);
    copy.sales = new Map(this.sales);
    copy.blocks = this.blocks;
    copy.debits = new Map(this.debits);
    copy.lost = this.lost;
    copy.consumed = new Map(this.consumed);
    copy.deductions = new Map(this.deductions);
    copy.taken = new Map(this.taken);
    copy.reversed = new Set(this.reversed);
    copy.debts = [...this.debts];
    copy.chargedMinor = this.chargedMinor;
    copy.advancedMinor = this.advancedMinor;
    copy.#counter = this.#counter;
    return copy;
  }

  /** The daily release. Returns the number of released installments. */
  releaseDue(): number {
    const due = [...this.installments.values()].filter(
      (installment) =>
        rules.statusOf(installment) === 'SCHEDULED' &&
        installment.reservation === null &&
        installment.date <= this.today,
    );
    this.#store(due.map((before) => ({ before, after: rules.release(before) })));
    return due.length;
  }

  available(caseId?: string, saleId?: string): bigint {
    const released = [...this.installments.values()].filter(
      (installment) => rules.statusOf(installment) === 'RELEASED',
    );
    const releasedMinor = released.reduce((sum, installment) => sum + rules.remainingMinor(installment), 0n);
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    const balanceMinor = availableMinor(
      releasedMinor,
      this.openDebtsMinor(),
      own,
      caseId ? refundBlock(caseId) : undefined,
    );
    const limitMinor = saleId === undefined ? undefined : refundLimitMinor(this.usedSale(saleId));
    return limitMinor !== undefined && limitMinor < balanceMinor ? limitMinor : balanceMinor;
  }

  openDebtsMinor(): bigint {
    return this.debts.reduce((sum, debt) => sum + debt.openMinor, 0n);
  }

  installmentsOf(saleId: string): Installment[] {
    return [...this.installments.values()].filter((installment) => installment.saleId === saleId);
  }

  reservedFor(advanceRequestId: string): Installment[] {
    return [...this.installments.values()].filter(
      (installment) => installment.reservation?.advanceRequestId === advanceRequestId,
    );
  }

  /** The end of every command: adjusts all holds, updates the rows, then collects open debts from free installments. */
  #store(changes: readonly (InstallmentChange | Allocation)[]): void {
    const changed = new Map(this.installments);
    for (const { after } of changes) changed.set(after.id, after);
    this.#apply(mergeChanges([...changes, ...this.#adjustments([...changed.values()])]));
    const paid = allocateDebts(this.debts, [...this.installments.values()], this.today);
    for (const allocation of paid.allocations) this.#take(allocation.sourceId, [allocation]);
    this.debts = this.debts
      .map((debt, index) => ({ ...debt, openMinor: paid.debts[index]!.openMinor }))
      .filter((debt) => debt.openMinor > 0n);
    this.#apply(mergeChanges(paid.allocations));
  }

  #adjustments(installments: readonly Installment[]): InstallmentChange[] {
    const blocks = Map.groupBy(
      this.blocks.filter(({ saleId }) => this.sales.has(saleId)),
      ({ saleId }) => saleId,
    );
    return [...blocks].flatMap(([saleId, open]) => {
      const holds = open.map((block) => ({ ...block, wantedMinor: this.wantedMinor(block)! }));
      const own = installments.filter((installment) => installment.saleId === saleId);
      return adjustHolds(own, holds, this.today);
    });
  }

  #apply(changes: readonly InstallmentChange[]): void {
    const changedIds = new Set(changes.map(({ after }) => after.id));
    const saleIds = new Set(changes.map(({ after }) => after.saleId));
    const unchanged = [...this.installments.values()].filter(
      ({ id, saleId }) => saleIds.has(saleId) && !changedIds.has(id),
    );
    for (const row of applyToReleases(this.rows.values(), changes, unchanged)) {
      if (row.salesCount === 0) this.rows.delete(rowKey(row));
      else this.rows.set(rowKey(row), row);
    }
    for (const { before, after } of changes) {
      this.installments.set(after.id, before === null ? after : { ...after, version: after.version + 1n });
    }
  }

  #id(kind: string): string {
    this.#counter += 1;
    return `${kind}-${String(this.#counter).padStart(6, '0')}`;
  }
}

function isRefused(rule: () => void): boolean {
  try {
    rule();
    return false;
  } catch (error) {
    if (error instanceof DomainError) return true;
    throw error;
  }
}

function refundBlock(caseId: string): Block {
  return { reason: 'REFUND_IN_PROGRESS', sourceId: caseId };
}
