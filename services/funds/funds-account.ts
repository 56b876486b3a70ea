import { v7 as uuidv7 } from 'uuid';
import * as refundFunding from '../contracts/refunds/refund-funding.contract.ts';
import { type CivilDate, civilDateAt } from '../platform/civil-date.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { type Allocation, availableMinor } from './allocation.ts';
import { AccountEntity, PostingEntity, type PostingKind } from './funds.entity.ts';
import { publishMoves, releasedEvent } from './funds.event.ts';
import { HoldStore } from './hold-store.ts';
import { adjustHolds } from './holds.ts';
import { holdableMinor } from './installment.ts';
import { InstallmentStore } from './installment-store.ts';
import { addSales, type NewSale } from './new-sales.ts';
import { OpenDebts } from './open-debts.ts';
import { PendingDebits } from './pending-debits.ts';
import {
  applyToReleases,
  type InstallmentChange,
  mergeChanges,
  requireExactSums,
  rowKey,
} from './release-rows.ts';
import { ReleaseStore } from './release-store.ts';
import { insertSales, updateSaleStatuses } from './sale-store.ts';
import {
  type AllocatedKind,
  causeOf,
  debtCollectionMovements,
  holdMovements,
  MOVEMENT_OF_POSTING,
  type Movement,
  movementOf,
  saleMovement,
} from './statement/movement.ts';
import { recordMovements } from './statement/movement-store.ts';

/**
 * Bounds how long a call waiting for the account holds a connection of the shared pool: twice this, because waiting for
 * a row takes two locks, one to queue for the row and one to await the transaction that holds it.
 */
const LOCK_TIMEOUT_MS = 500;

/** An amount that is deducted from installments or restored to them. */
interface Allocated {
  readonly kind: AllocatedKind;
  readonly sourceId: string;
  /** The sale whose blocks or refunds it changes. */
  readonly saleId?: string | undefined;
  /** What no installment covers, in centavos. */
  readonly debtMinor?: bigint;
}

/** The reversal of the deductions for a source. */
interface Reversal {
  readonly sourceId: string;
  /** The sales whose lost disputes it changes. */
  readonly saleIds: readonly string[];
  /** The debt that is canceled, in centavos. */
  readonly canceledMinor: bigint;
}

/** An amount restored to an installment: what lost blocks had consumed of it, plus what a deduction or its debt had deducted. */
type Restored = Allocation & { readonly consumedMinor: bigint; readonly deductedMinor: bigint };

/**
 * A merchant's funds inside a transaction that holds the account's lock: commands on one account run one at a time.
 * Only this class writes installments, the release rows that sum them up, the statuses of sales, postings, debts and the
 * movements of the statement, so they change together.
 */
export class FundsAccount {
  readonly today: CivilDate;
  /** The time of the command. */
  readonly at: Date;
  readonly installments: InstallmentStore;
  readonly holds: HoldStore;
  readonly pendingDebits: PendingDebits;
  readonly #tx: TenantTransaction;
  readonly #debts: OpenDebts;
  readonly #releases: ReleaseStore;
  #hasStartedFunding = false;

  private constructor(tx: TenantTransaction, at: Date) {
    this.today = civilDateAt(at);
    this.installments = new InstallmentStore(tx);
    this.holds = new HoldStore(tx);
    this.pendingDebits = new PendingDebits(tx);
    this.#tx = tx;
    this.at = at;
    this.#debts = new OpenDebts(tx);
    this.#releases = new ReleaseStore(tx);
  }

  /**
   * Locks the account of the transaction's tenant, and creates it if necessary. `at` is the time of the command. Fails
   * with a lock timeout within a second: {@link AccountWrites} then repeats the transaction.
   */
  static async lock(tx: TenantTransaction, at: Date): Promise<FundsAccount> {
    await tx.limitLockWaits(LOCK_TIMEOUT_MS);
    if ((await tx.lockOne(AccountEntity, {})) === null) {
      await tx.execute(
        `insert into funds.account (merchant_id, environment, schedule_id)
         values (:merchantId, :environment, :scheduleId) on conflict do nothing`,
        { scheduleId: uuidv7() },
      );
      await tx.lockOne(AccountEntity, {});
    }
    return new FundsAccount(tx, at);
  }

  /**
   * Stores the changes of a command, and the movements that they make. Then adjusts the holds of the sales that it
   * changed, and of `saleIds`, whose blocks or refunds it changed; collects open debts from free installments,
   * publishes what was released, blocked or unblocked, and starts the funding of refunds when the balance covers a
   * pending debit.
   * OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when the sums of a day would exceed the exact range.
   */
  async store(
    changes: readonly InstallmentChange[],
    movements: readonly Movement[],
    saleIds: readonly string[] = [],
  ): Promise<void> {
    await this.#apply(changes, movements, saleIds);
    await this.#fundRefunds();
  }

  /** Like `store`, for amounts deducted from installments or restored to them; posts each amount for its source. */
  async storeAllocations(
    { kind, sourceId, saleId, debtMinor }: Allocated,
    allocations: readonly Allocation[],
    cause = causeOf(MOVEMENT_OF_POSTING[kind], sourceId, saleId),
  ): Promise<void> {
    for (const { after, amountMinor } of allocations) this.#post(kind, sourceId, after.id, amountMinor);
    const movements = movementOf(cause, allocations, this.at, debtMinor);
    const { adjusted } = await this.#apply(allocations, movements, saleId === undefined ? [] : [saleId]);
    // A refund's debit only lowers the balance, unless holds that it covers return excess amounts.
    if (kind !== 'REFUND_DEBIT' || adjusted) await this.#fundRefunds();
  }

  /** Like `storeAllocations`, for the reversal of all deductions for a source. */
  async storeReversal(
    { sourceId, saleIds, canceledMinor }: Reversal,
    restored: readonly Restored[],
  ): Promise<void> {
    for (const { after, consumedMinor, deductedMinor } of restored) {
      if (consumedMinor > 0n) this.#post('CONSUMPTION_REVERSAL', sourceId, after.id, consumedMinor);
      if (deductedMinor > 0n) this.#post('DEDUCTION_REVERSAL', sourceId, after.id, deductedMinor);
    }
    await this.#tx.flush();
    const [saleId] = saleIds.length === 1 ? saleIds : [];
    const cause = causeOf('DEDUCTION_REVERSAL', sourceId, saleId);
    await this.store(restored, movementOf(cause, restored, this.at, -canceledMinor), saleIds);
  }

  /**
   * Records new sales, whose funds no block or debt claims, with a fixed number of statements, and publishes what they
   * release. Leaves out sales that would take a day above the exact range; returns the ids of the others.
   */
  async recordSales(sales: readonly NewSale[]): Promise<Set<string>> {
    const dates = sales.flatMap(({ installments }) => installments.map(({ date }) => date));
    const { added, rows } = addSales(await this.#releases.onDates(dates), sales);
    if (added.length === 0) return new Set();
    await insertSales(
      this.#tx,
      added.map(({ sale }) => sale),
    );
    await this.installments.insertAll(added.flatMap(({ sale }) => sale.installments));
    await this.#releases.putAdded(rows);
    await this.#renewSchedule();
    const movements = added.flatMap(({ sale }) => saleMovement(sale));
    await recordMovements(this.#tx, movements);
    const events = added.flatMap(({ sale, released }) =>
      released.map((row) => releasedEvent(row, sale.requestId, sale.capturedAt)),
    );
    await this.#tx.publishAll(events);
    await this.#fundRefunds();
    return new Set(added.map(({ sale }) => sale.id));
  }

  /** The sum of released amounts, after debits of refunds. */
  async releasedMinor(): Promise<bigint> {
    const [row] = await this.#tx.execute<{ sum: string }>(
      `select coalesce(sum(remaining_minor), 0)::text as sum from funds.release
        where merchant_id = :merchantId and environment = :environment and status = 'RELEASED'`,
    );
    return BigInt(row!.sum);
  }

  /** The sum of open debts. */
  openDebtsMinor(): Promise<bigint> {
    return this.#debts.totalMinor();
  }

  /** Pays this much of the open debts, oldest first; they must be at least as much. */
  async payDebts(paymentId: string, amountMinor: bigint): Promise<void> {
    await this.#debts.pay(paymentId, amountMinor, this.at);
    await this.store([], movementOf(causeOf('DEBT_PAYMENT', paymentId), [], this.at, -amountMinor));
  }

  /** The balance available to any refund; may be negative. */
  async availableMinor(): Promise<bigint> {
    return availableMinor(await this.releasedMinor(), await this.openDebtsMinor());
  }

  /** Holds come before debts, which may take only what no hold needs. */
  async #apply(
    changes: readonly InstallmentChange[],
    movements: readonly Movement[],
    saleIds: readonly string[],
  ): Promise<{ readonly adjusted: boolean }> {
    const adjustments = await this.#adjustHolds(changes, saleIds);
    const all = mergeChanges([...changes, ...adjustments]);
    await this.#storeInstallments(all);
    const collections = await this.#collectDebts();
    const holds = holdMovements(adjustments, this.at);
    await recordMovements(this.#tx, [...movements, ...holds, ...collections]);
    await publishMoves(this.#tx, this.#releases, all, this.at);
    return { adjusted: adjustments.length > 0 };
  }

  /**
   * The changes that adjust open blocks to the amounts they should hold after `changes`. Loads only sales with an open
   * block.
   */
  async #adjustHolds(
    changes: readonly InstallmentChange[],
    saleIds: readonly string[],
  ): Promise<InstallmentChange[]> {
    const touched = changes
      .filter(({ before, after }) => (before ? holdableMinor(before) : 0n) !== holdableMinor(after))
      .map(({ after }) => after.saleId);
    const holds = await this.holds.openOf([...new Set([...saleIds, ...touched])]);
    const stored = await this.installments.ofSales([...holds.keys()]);
    const current = new Map(stored.map((installment) => [installment.id, installment]));
    for (const { after } of changes) current.set(after.id, after);
    const bySale = Map.groupBy(current.values(), ({ saleId }) => saleId);
    return [...holds].flatMap(([saleId, open]) => adjustHolds(bySale.get(saleId) ?? [], open, this.today));
  }

  /** Stores installments with all that is derived from them. */
  async #storeInstallments(changes: readonly InstallmentChange[]): Promise<void> {
    if (changes.length === 0) return;
    const rows = await this.#releases.onDates(changes.map(({ after }) => after.date));
    const changed = applyToReleases(rows, changes, await this.installments.unchangedParts(changes));
    const resulting = new Map([...rows, ...changed].map((row) => [rowKey(row), row]));
    requireExactSums(resulting.values());
    for (const { before, after } of changes) await this.installments.put(after, before === null);
    await this.#releases.put(changed);
    await this.#renewSchedule();
    await updateSaleStatuses(this.#tx, changes);
  }

  /** Outdates what was read to quote an advance. */
  async #renewSchedule(): Promise<void> {
    const account = await this.#tx.findOne(AccountEntity, {});
    account!.scheduleId = uuidv7();
    await this.#tx.flush();
  }

  /** Reduces installments that are free now by open debts. */
  async #collectDebts(): Promise<Movement[]> {
    const collected = await this.#debts.collect(this.installments, this.today);
    for (const { sourceId, after, amountMinor } of collected) {
      this.#post('DEBT', sourceId, after.id, amountMinor);
    }
    await this.#storeInstallments(mergeChanges(collected));
    return debtCollectionMovements(collected, this.at);
  }

  /** Pending debits are written under this lock too, so no rise of the balance is missed. */
  async #fundRefunds(): Promise<void> {
    if (this.#hasStartedFunding || !(await this.pendingDebits.exist())) return;
    const covered = await this.pendingDebits.oldestCovered(await this.availableMinor());
    if (covered === undefined) return;
    this.#hasStartedFunding = true;
    await this.#tx.command(refundFunding.startCommand(uuidv7(), this.#tx.tenant));
  }

  #post(kind: PostingKind, sourceId: string, installmentId: string, amountMinor: bigint): void {
    const id = uuidv7();
    this.#tx.create(PostingEntity, { id, installmentId, kind, sourceId, amountMinor, postedAt: this.at });
  }
}
