import type { QuotedInstallment } from '../../../services/funds/advances/reservation.ts';
import type { Block } from '../../../services/funds/sales/installment.ts';
import { isHeldBy, remainingMinor, statusOf } from '../../../services/funds/sales/installment.ts';
import { FundsModel, type ModelBlock, type ModelSale } from './funds-model.ts';

/** The outcome of a command: OK with its figures, or the reason of its refusal. */
export type Outcome = string;

interface ModelReservation {
  readonly state: 'HELD' | 'FREED' | 'SETTLED';
  readonly amountMinor: bigint;
}

/** An account as the RPCs see it: the model of the rules, and what commands must know about earlier ones. */
export class AccountModel {
  funds = new FundsModel();
  #debtPayments = new Set<string>();
  #lifted = new Set<string>();
  #reservations = new Map<string, ModelReservation>();
  #debits = new Map<string, { readonly amountMinor: bigint; readonly reversed: boolean }>();

  clone(): AccountModel {
    const copy = new AccountModel();
    copy.funds = this.funds.clone();
    copy.#debtPayments = new Set(this.#debtPayments);
    copy.#lifted = new Set(this.#lifted);
    copy.#reservations = new Map(this.#reservations);
    copy.#debits = new Map(this.#debits);
    return copy;
  }

  openBlocks(): readonly ModelBlock[] {
    return this.funds.blocks;
  }

  /** The ids of reservations that hold installments. */
  held(): string[] {
    return [...this.#reservations].filter(([, { state }]) => state === 'HELD').map(([id]) => id);
  }

  /** The cases whose debits are not reversed. */
  debited(): string[] {
    return [...this.#debits].filter(([, { reversed }]) => !reversed).map(([id]) => id);
  }

  sell(sale: ModelSale, saleId: string, installmentIds: readonly string[] | undefined): Outcome {
    if (this.funds.sales.has(saleId)) return 'SALE_ALREADY_RECORDED';
    return this.funds.sell(sale, saleId, installmentIds) ? 'OK' : 'AMOUNT_OUT_OF_RANGE';
  }

  deduct(sourceId: string, saleId: string | undefined, amountMinor: bigint, raise: boolean): Outcome {
    const earlier = this.funds.deductions.get(sourceId);
    if (this.funds.reversed.has(sourceId)) return 'DEDUCTION_REVERSED';
    if (earlier && !(raise && earlier.saleId === saleId)) return 'DEDUCTION_ALREADY_APPLIED';
    if (saleId !== undefined && !this.funds.sales.has(saleId)) return 'SALE_NOT_FOUND';
    const lackedMinor = amountMinor - (earlier?.amountMinor ?? 0n);
    if (lackedMinor <= 0n) return 'OK 0 0';
    const debt = this.funds.deduct(saleId, lackedMinor, sourceId);
    return `OK ${lackedMinor - debt} ${debt}`;
  }

  reverseDeduction(sourceId: string): Outcome {
    const { restoredMinor, canceledMinor } = this.funds.reverseDeduction(sourceId);
    return `OK ${restoredMinor} ${canceledMinor}`;
  }

  payDebts(paymentId: string, amountMinor: bigint): Outcome {
    if (this.#debtPayments.has(paymentId)) return 'DEBT_PAYMENT_ALREADY_RECORDED';
    if (amountMinor > this.funds.openDebtsMinor()) return 'OPEN_DEBTS_EXCEEDED';
    this.#debtPayments.add(paymentId);
    this.funds.payDebts(amountMinor);
    return `OK ${this.funds.openDebtsMinor()}`;
  }

  block(saleId: string, block: Block, amountMinor: bigint | null, once: boolean): Outcome {
    const known = this.funds.findBlock(saleId, block);
    if (known && known.amountMinor !== amountMinor) return 'BLOCK_AMOUNT_DIFFERS';
    if (once && !known && this.#lifted.has(keyOf(saleId, block))) return 'OK 0 0';
    this.funds.block(saleId, block, amountMinor);
    const { heldMinor, unmetMinor } = this.funds.holding(this.funds.findBlock(saleId, block)!);
    return `OK ${heldMinor} ${unmetMinor}`;
  }

  unblock(
    saleId: string,
    block: Block,
    {
      lost,
      deductUnmet,
      lostMinor,
    }: { readonly lost: boolean; readonly deductUnmet: boolean; readonly lostMinor: bigint | undefined },
  ): Outcome {
    if (lost && lostMinor !== undefined) this.funds.fixLostRest(saleId, block, lostMinor);
    const open = this.funds.findBlock(saleId, block);
    if (open === undefined) return 'BLOCK_NOT_FOUND';
    const held = this.funds.installmentsOf(saleId).filter((installment) => isHeldBy(installment, block));
    const { heldMinor, unmetMinor } = this.funds.holding(open);
    const deductsUnmet = lost && deductUnmet;
    if (deductsUnmet && unmetMinor === undefined) return 'SALE_NOT_RECORDED';
    this.funds.unblock(open, lost);
    this.#lifted.add(keyOf(saleId, block));
    if (deductsUnmet && unmetMinor! > 0n && !this.funds.deductions.has(block.sourceId)) {
      this.funds.deduct(saleId, unmetMinor!, block.sourceId);
    }
    return `OK ${held.length} ${heldMinor} ${unmetMinor}`;
  }

  reserve(id: string, quoted: readonly QuotedInstallment[]): Outcome {
    const known = this.#reservations.get(id);
    if (known?.state === 'FREED') return 'RESERVATION_FREED';
    if (known) return `OK ${known.amountMinor}`;
    if (!this.funds.reserve(id, quoted)) return 'QUOTE_STALE';
    const installments = this.funds.reservedFor(id);
    const amountMinor = installments.reduce((sum, { reservation }) => sum + reservation!.amountMinor, 0n);
    this.#reservations.set(id, { state: 'HELD', amountMinor });
    return `OK ${amountMinor}`;
  }

  free(id: string): Outcome {
    const known = this.#reservations.get(id);
    if (known?.state === 'SETTLED') return 'RESERVATION_SETTLED';
    if (known?.state === 'HELD') this.funds.free(id);
    this.#reservations.set(id, { amountMinor: 0n, ...known, state: 'FREED' });
    return 'OK';
  }

  settle(id: string): Outcome {
    const known = this.#reservations.get(id);
    if (known === undefined) return 'RESERVATION_NOT_FOUND';
    if (known.state === 'FREED') return 'RESERVATION_FREED';
    if (known.state === 'HELD' && !this.funds.settle(id)) return 'COVERED_PART_DUE';
    this.#reservations.set(id, { ...known, state: 'SETTLED' });
    return `OK ${known.amountMinor}`;
  }

  debit(caseId: string, saleId: string | undefined, amountMinor: bigint): Outcome {
    const known = this.#debits.get(caseId);
    if (known?.reversed) return 'REFUND_DEBIT_REVERSED';
    if (known) return known.amountMinor === amountMinor ? 'OK' : 'REFUND_ALREADY_DEBITED';
    if (!this.funds.refund(caseId, saleId, amountMinor)) return 'INSUFFICIENT_AVAILABLE_BALANCE';
    this.#debits.set(caseId, { amountMinor, reversed: false });
    return 'OK';
  }

  reverse(caseId: string): Outcome {
    const known = this.#debits.get(caseId);
    if (known === undefined) return 'REFUND_DEBIT_NOT_FOUND';
    if (!known.reversed) this.funds.reverse(caseId);
    this.#debits.set(caseId, { ...known, reversed: true });
    return 'OK';
  }

  releaseDue(): Outcome {
    const installments = [...this.funds.installments.values()].filter(
      (installment) =>
        statusOf(installment) === 'SCHEDULED' &&
        installment.reservation === null &&
        installment.date <= this.funds.today,
    );
    const minor = installments.reduce((sum, installment) => sum + remainingMinor(installment), 0n);
    return `OK ${this.funds.releaseDue()} ${minor}`;
  }
}

const keyOf = (saleId: string, { reason, sourceId }: Block) => `${saleId} ${reason} ${sourceId}`;
