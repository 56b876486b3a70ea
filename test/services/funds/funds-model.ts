import {
  availableMinor,
  type Debt,
  reverse,
  type Allocation,
  allocateBlocked,
  allocateDebts,
  allocateDeduction,
  allocateRefund,
} from '../../../services/funds/allocation.ts';
import type { Block, BlockReason, Installment } from '../../../services/funds/installment.ts';
import * as rules from '../../../services/funds/installment.ts';
import {
  applyToReleases,
  dayOutOfRange,
  type InstallmentChange,
  type ReleaseRow,
  rowKey,
} from '../../../services/funds/release-rows.ts';
import { type QuotedInstallment, reserveQuoted, settleReserved } from '../../../services/funds/reservation.ts';
import { type SaleMethod, scheduleSale } from '../../../services/funds/sale-schedule.ts';
import { addDays, type CivilDate } from '../../../services/platform/civil-date.ts';

export interface ModelSale {
  readonly method: SaleMethod;
  readonly grossMinor: bigint;
  readonly feesMinor: bigint;
  readonly installments: number;
}

/** An account in memory: the pure rules without database, RPC or clock, as the use cases put them together. */
export class FundsModel {
  today: CivilDate = '2026-11-16';
  installments = new Map<string, Installment>();
  rows = new Map<string, ReleaseRow>();
  blocks = new Map<string, readonly Block[]>();
  debts: (Debt & { readonly on: CivilDate })[] = [];
  debits = new Map<string, { installmentId: string; amountMinor: bigint }[]>();
  /** What was ever deducted, net of reversals, to be found again in the installments and the open debts. */
  chargedMinor = 0n;
  advancedMinor = 0n;
  #counter = 0;

  /** Answers whether the sums stay in range; installments bear the ids given, or ids of the model's own. */
  sell(sale: ModelSale, saleId = this.#id('sale'), ids?: readonly string[]): boolean {
    const changes = scheduleSale({ ...sale, capturedOn: this.today }).map((scheduled, index): InstallmentChange => {
      const id = ids?.[index] ?? this.#id('installment');
      return { before: null, after: rules.newInstallment(id, saleId, scheduled, this.today) };
    });
    const rows = new Map(this.rows);
    for (const row of applyToReleases(rows.values(), changes)) rows.set(rowKey(row), row);
    if (dayOutOfRange(rows.values()) !== null) return false;
    this.blocks.set(saleId, []);
    this.#store(changes);
    return true;
  }

  /** Answers what became a debt: of days alike the one of the lower source id is paid first. */
  deduct(saleId: string | undefined, amountMinor: bigint, sourceId = this.#id('debt')): bigint {
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    const took = allocateDeduction(amountMinor, own, [...this.installments.values()], this.today);
    this.chargedMinor += amountMinor;
    if (took.missingMinor > 0n) {
      this.debts.push({ sourceId, openMinor: took.missingMinor, on: this.today });
      this.debts.sort((one, other) => (one.on + one.sourceId < other.on + other.sourceId ? -1 : 1));
    }
    this.#store(took.allocations);
    return took.missingMinor;
  }

  block(saleId: string, reason: BlockReason, sourceId: string): void {
    this.#setBlocks(saleId, rules.addBlock(this.blocks.get(saleId)!, { reason, sourceId }));
  }

  unblock(saleId: string, block: Block, lost: boolean): void {
    if (lost) {
      const allocations = allocateBlocked(this.installmentsOf(saleId), block, this.today);
      this.chargedMinor += allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0n);
      this.#store(allocations);
    }
    this.#setBlocks(saleId, rules.removeBlock(this.blocks.get(saleId)!, block));
  }

  reserve(advanceRequestId: string, quoted: readonly QuotedInstallment[]): boolean {
    const result = reserveQuoted(quoted, [...this.installments.values()], advanceRequestId, this.today);
    if ('staleInstallmentId' in result) return false;
    this.#store(result.installments.map((after) => ({ before: this.installments.get(after.id)!, after })));
    return true;
  }

  free(advanceRequestId: string): void {
    this.#store(this.reservedFor(advanceRequestId).map((before) => ({ before, after: rules.free(before) })));
  }

  /** Answers whether no covered date had come. */
  settle(advanceRequestId: string): boolean {
    const result = settleReserved(this.reservedFor(advanceRequestId), this.today);
    if ('dueInstallment' in result) return false;
    this.advancedMinor += result.allocations.reduce((sum, allocation) => sum + allocation.amountMinor, 0n);
    this.#store(result.allocations);
    return true;
  }

  /** Answers whether the balance sufficed. */
  refund(caseId: string, saleId: string | undefined, amountMinor: bigint): boolean {
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    if (this.debits.has(caseId) || amountMinor > this.available(caseId, saleId)) return false;
    const allocations = allocateRefund(amountMinor, own, [...this.installments.values()], refundBlock(caseId), this.today);
    this.debits.set(
      caseId,
      allocations.map(({ before, amountMinor }) => ({ installmentId: before.id, amountMinor })),
    );
    this.chargedMinor += amountMinor;
    this.#store(allocations);
    return true;
  }

  reverse(caseId: string): void {
    const taken = this.debits.get(caseId) ?? [];
    this.debits.delete(caseId);
    this.chargedMinor -= taken.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    this.#store(reverse(taken, [...this.installments.values()], this.today));
  }

  nextDays(days: number): void {
    this.today = addDays(this.today, days);
  }

  /** The same account, to go on otherwise. */
  clone(): FundsModel {
    const copy = new FundsModel();
    copy.today = this.today;
    copy.installments = new Map(this.installments);
    copy.rows = new Map(this.rows);
    copy.blocks = new Map(this.blocks);
    copy.debits = new Map(this.debits);
    copy.debts = [...this.debts];
    copy.chargedMinor = this.chargedMinor;
    copy.advancedMinor = this.advancedMinor;
    copy.#counter = this.#counter;
    return copy;
  }

  /** The daily release; answers how many installments it released. */
  releaseDue(): number {
    const due = [...this.installments.values()].filter(
      (installment) => rules.statusOf(installment) === 'SCHEDULED' && installment.reservation === null && installment.date <= this.today,
    );
    this.#store(due.map((before) => ({ before, after: rules.release(before) })));
    return due.length;
  }

  available(caseId?: string, saleId?: string): bigint {
    const released = [...this.installments.values()].filter((installment) => rules.statusOf(installment) === 'RELEASED');
    const releasedMinor = released.reduce((sum, installment) => sum + rules.remainingMinor(installment), 0n);
    const own = saleId === undefined ? [] : this.installmentsOf(saleId);
    return availableMinor(
      releasedMinor,
      this.openDebtsMinor(),
      own,
      caseId ? refundBlock(caseId) : undefined,
    );
  }

  openDebtsMinor(): bigint {
    return this.debts.reduce((sum, debt) => sum + debt.openMinor, 0n);
  }

  installmentsOf(saleId: string): Installment[] {
    return [...this.installments.values()].filter((installment) => installment.saleId === saleId);
  }

  reservedFor(advanceRequestId: string): Installment[] {
    return [...this.installments.values()].filter((installment) => installment.reservation?.advanceRequestId === advanceRequestId);
  }

  #setBlocks(saleId: string, blocks: readonly Block[]): void {
    this.blocks.set(saleId, blocks);
    const changes = this.installmentsOf(saleId).map((before) => {
      return { before, after: rules.withSaleBlocks(before, blocks, this.today) };
    });
    // What no block holds, or held, has not changed for those who have it quoted.
    for (const { after } of changes) this.installments.set(after.id, after);
    this.#store(changes.filter(({ before, after }) => rules.isBlockedDifferently(before, after)));
  }

  /** Every command ends so: rows follow the installments, then open debts take what has become free. */
  #store(changes: readonly (InstallmentChange | Allocation)[]): void {
    this.#carry(changes);
    const paid = allocateDebts(this.debts, [...this.installments.values()], this.today);
    this.debts = this.debts
      .map((debt, index) => ({ ...debt, openMinor: paid.debts[index]!.openMinor }))
      .filter((debt) => debt.openMinor > 0n);
    this.#carry(paid.allocations);
  }

  #carry(changes: readonly InstallmentChange[]): void {
    for (const row of applyToReleases(this.rows.values(), changes)) {
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

function refundBlock(caseId: string): Block {
  return { reason: 'REFUND_IN_PROGRESS', sourceId: caseId };
}
