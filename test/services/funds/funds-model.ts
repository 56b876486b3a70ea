import type { Block, BlockReason, Part } from '../../../services/funds/part.ts';
import * as rules from '../../../services/funds/part.ts';
import {
  carryOver,
  dayOutOfRange,
  type PartChange,
  type ReleaseRow,
  rowKey,
} from '../../../services/funds/release-rows.ts';
import { type QuotedPart, reserveQuoted, settleReserved } from '../../../services/funds/reservation.ts';
import { scheduleSale } from '../../../services/funds/sale-schedule.ts';
import {
  availableMinor,
  type Debt,
  giveBack,
  type Taking,
  takeBlocked,
  takeDebts,
  takeDeduction,
  takeRefund,
} from '../../../services/funds/takings.ts';
import { addDays, type CivilDate } from '../../../services/platform/civil-date.ts';

/** An account in memory: the pure rules without database, RPC or clock, as the use cases put them together. */
export class FundsModel {
  today: CivilDate = '2026-11-16';
  parts = new Map<string, Part>();
  rows = new Map<string, ReleaseRow>();
  blocks = new Map<string, readonly Block[]>();
  debts: Debt[] = [];
  debits = new Map<string, { partId: string; amountMinor: bigint }[]>();
  /** What was ever deducted, net of reversals, to be found again in the parts and the open debts. */
  chargedMinor = 0n;
  advancedMinor = 0n;
  #counter = 0;

  sell(
    method: 'CARD' | 'INSTANT_TRANSFER',
    grossMinor: bigint,
    feesMinor: bigint,
    installments: number,
  ): void {
    const saleId = this.#id('sale');
    const sale = { method, capturedOn: this.today, grossMinor, feesMinor, installments };
    const changes = scheduleSale(sale).map(({ date, ...shares }): PartChange => {
      const nothing = {
        deductedMinor: 0n,
        advancedMinor: 0n,
        reservation: null,
        saleBlocks: [],
        version: 1n,
      };
      const released = date <= this.today;
      return { before: null, after: { id: this.#id('part'), saleId, date, released, ...shares, ...nothing } };
    });
    const rows = new Map(this.rows);
    for (const row of carryOver(rows.values(), changes)) rows.set(rowKey(row), row);
    if (dayOutOfRange(rows.values()) !== null) return;
    this.blocks.set(saleId, []);
    this.#store(changes);
  }

  deduct(saleId: string | undefined, amountMinor: bigint): void {
    const own = saleId === undefined ? [] : this.partsOf(saleId);
    const took = takeDeduction(amountMinor, own, [...this.parts.values()], this.today);
    this.chargedMinor += amountMinor;
    if (took.missingMinor > 0n) this.debts.push({ sourceId: this.#id('debt'), openMinor: took.missingMinor });
    this.#store(took.takings);
  }

  block(saleId: string, reason: BlockReason, sourceId: string): void {
    this.#setBlocks(saleId, rules.addBlock(this.blocks.get(saleId)!, { reason, sourceId }));
  }

  unblock(saleId: string, block: Block, lost: boolean): void {
    if (lost) {
      const takings = takeBlocked(this.partsOf(saleId), block, this.today);
      this.chargedMinor += takings.reduce((sum, taking) => sum + taking.amountMinor, 0n);
      this.#store(takings);
    }
    this.#setBlocks(saleId, rules.removeBlock(this.blocks.get(saleId)!, block));
  }

  reserve(advanceRequestId: string, quoted: readonly QuotedPart[]): boolean {
    const result = reserveQuoted(quoted, [...this.parts.values()], advanceRequestId, this.today);
    if ('stalePartId' in result) return false;
    this.#store(result.parts.map((after) => ({ before: this.parts.get(after.id)!, after })));
    return true;
  }

  free(advanceRequestId: string): void {
    this.#store(this.reservedFor(advanceRequestId).map((before) => ({ before, after: rules.free(before) })));
  }

  settle(advanceRequestId: string): void {
    const result = settleReserved(this.reservedFor(advanceRequestId), this.today);
    if ('duePart' in result) return;
    this.advancedMinor += result.takings.reduce((sum, taking) => sum + taking.amountMinor, 0n);
    this.#store(result.takings);
  }

  /** Answers whether the balance sufficed. */
  refund(caseId: string, saleId: string | undefined, amountMinor: bigint): boolean {
    const own = saleId === undefined ? [] : this.partsOf(saleId);
    if (this.debits.has(caseId) || amountMinor > this.available(caseId, saleId)) return false;
    const takings = takeRefund(amountMinor, own, [...this.parts.values()], refundBlock(caseId), this.today);
    this.debits.set(
      caseId,
      takings.map(({ before, amountMinor }) => ({ partId: before.id, amountMinor })),
    );
    this.chargedMinor += amountMinor;
    this.#store(takings);
    return true;
  }

  reverse(caseId: string): void {
    const taken = this.debits.get(caseId) ?? [];
    this.debits.delete(caseId);
    this.chargedMinor -= taken.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    this.#store(giveBack(taken, [...this.parts.values()], this.today));
  }

  nextDays(days: number): void {
    this.today = addDays(this.today, days);
  }

  /** The daily release; answers how many parts it released. */
  releaseDue(): number {
    const due = [...this.parts.values()].filter(
      (part) => rules.statusOf(part) === 'SCHEDULED' && part.reservation === null && part.date <= this.today,
    );
    this.#store(due.map((before) => ({ before, after: rules.release(before) })));
    return due.length;
  }

  available(caseId?: string, saleId?: string): bigint {
    const released = [...this.parts.values()].filter((part) => rules.statusOf(part) === 'RELEASED');
    const releasedMinor = released.reduce((sum, part) => sum + rules.leftMinor(part), 0n);
    const own = saleId === undefined ? [] : this.partsOf(saleId);
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

  partsOf(saleId: string): Part[] {
    return [...this.parts.values()].filter((part) => part.saleId === saleId);
  }

  reservedFor(advanceRequestId: string): Part[] {
    return [...this.parts.values()].filter((part) => part.reservation?.advanceRequestId === advanceRequestId);
  }

  #setBlocks(saleId: string, blocks: readonly Block[]): void {
    this.blocks.set(saleId, blocks);
    const parts = this.partsOf(saleId);
    this.#store(parts.map((before) => ({ before, after: rules.withSaleBlocks(before, blocks, this.today) })));
  }

  /** Every command ends so: rows follow the parts, then open debts take what has become free. */
  #store(changes: readonly (PartChange | Taking)[]): void {
    this.#carry(changes);
    const paid = takeDebts(this.debts, [...this.parts.values()], this.today);
    this.debts = paid.debts.filter((debt) => debt.openMinor > 0n);
    this.#carry(paid.takings);
  }

  #carry(changes: readonly PartChange[]): void {
    for (const row of carryOver(this.rows.values(), changes)) {
      if (row.salesCount === 0) this.rows.delete(rowKey(row));
      else this.rows.set(rowKey(row), row);
    }
    for (const { after } of changes) this.parts.set(after.id, { ...after, version: after.version + 1n });
  }

  #id(kind: string): string {
    this.#counter += 1;
    return `${kind}-${String(this.#counter).padStart(6, '0')}`;
  }
}

function refundBlock(caseId: string): Block {
  return { reason: 'REFUND_IN_PROGRESS', sourceId: caseId };
}
