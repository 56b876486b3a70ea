import { v7 as uuidv7 } from 'uuid';
import * as refundFunding from '../contracts/refunds/refund-funding.contract.ts';
import { type CivilDate, civilDateAt } from '../platform/civil-date.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { AccountLedger } from './account-ledger.ts';
import { availableMinor } from './allocation.ts';
import { OpenDebts } from './debts/open-debts.ts';
import { AccountEntity } from './funds.entity.ts';
import { publishMoves, releasedEvent } from './funds.event.ts';
import { type FundsChange, postingOf } from './funds-change.ts';
import { HoldStore } from './holds/hold-store.ts';
import { adjustHoldsOfSales, salesToHold } from './holds/holds.ts';
import { PendingDebits } from './refunds/pending-debits.ts';
import { type InstallmentChange, mergeChanges } from './releases/release-rows.ts';
import { ReleaseStore } from './releases/release-store.ts';
import { InstallmentStore } from './sales/installment-store.ts';
import type { NewSale } from './sales/new-sales.ts';
import {
  causeOf,
  debtCollectionMovements,
  holdMovements,
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

/**
 * A merchant's funds inside a transaction that holds the account's lock: commands on one account run one at a time.
 * A command reads them, lets the rules decide, and stores the change; everything that follows from it is stored with it.
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
  readonly #ledger: AccountLedger;
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
    this.#ledger = new AccountLedger(tx, this.installments, this.#releases);
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
   * Stores what a command changes, together with the holds of the sales that it changed. Then collects open debts from free
   * installments, which may take only what no hold needs; publishes what was released, blocked or unblocked; and starts
   * the funding of refunds when the balance covers a pending debit.
   * OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when the sums of a day would exceed the exact range.
   */
  async store({
    installments = [],
    postings = [],
    movements = [],
    saleIds = [],
  }: FundsChange): Promise<void> {
    this.#ledger.post(postings, this.at);
    const adjustments = await this.#adjustHolds(installments, saleIds);
    const changes = mergeChanges([...installments, ...adjustments]);
    await this.#ledger.change(changes);
    const collections = await this.#collectDebts();
    await recordMovements(this.#tx, [...movements, ...holdMovements(adjustments, this.at), ...collections]);
    await publishMoves(this.#tx, this.#releases, changes, this.at);
    // A refund's debit only lowers the balance, unless holds that it covers return excess amounts.
    const isDebit = postings.some(({ kind }) => kind === 'REFUND_DEBIT');
    if (!isDebit || adjustments.length > 0) await this.#fundRefunds();
  }

  /**
   * Records new sales, whose funds no block or debt claims, with a fixed number of statements, and publishes what they
   * release. Leaves out sales that would take a day above the exact range; returns the ids of the others.
   */
  async recordSales(sales: readonly NewSale[]): Promise<Set<string>> {
    const added = await this.#ledger.insert(sales);
    if (added.length === 0) return new Set();
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
    const movements = movementOf(causeOf('DEBT_PAYMENT', paymentId), [], this.at, -amountMinor);
    await this.store({ movements });
  }

  /** The balance available to any refund; may be negative. */
  async availableMinor(): Promise<bigint> {
    return availableMinor(await this.releasedMinor(), await this.openDebtsMinor());
  }

  /** The changes that adjust open blocks to the amounts they should hold. Loads only sales with an open block. */
  async #adjustHolds(
    changes: readonly InstallmentChange[],
    saleIds: readonly string[],
  ): Promise<InstallmentChange[]> {
    const holds = await this.holds.openOf([...new Set([...saleIds, ...salesToHold(changes)])]);
    const stored = await this.installments.ofSales([...holds.keys()]);
    return adjustHoldsOfSales(stored, changes, holds, this.today);
  }

  /** Reduces installments that are free now by open debts. */
  async #collectDebts(): Promise<Movement[]> {
    const collected = await this.#debts.collect(this.installments, this.today);
    const postings = collected.map((each) => postingOf('DEBT', each.sourceId, each));
    this.#ledger.post(postings, this.at);
    await this.#ledger.change(mergeChanges(collected));
    return debtCollectionMovements(collected, this.at);
  }

  /** Pending debits are written under this lock too, so no rise of the balance is missed. */
  async #fundRefunds(): Promise<void> {
    if (this.#hasStartedFunding || !(await this.pendingDebits.exist())) return;
    const covered = await this.pendingDebits.oldestCovered(await this.availableMinor());
    if (covered === undefined) return;
    this.#hasStartedFunding = true;
    await this.#tx.command(refundFunding.startCoveredCommand(covered, this.#tx.tenant));
  }
}
