import { v7 as uuidv7 } from 'uuid';
import * as refundFunding from '../contracts/refunds/refund-funding.contract.ts';
import { type CivilDate, civilDateAt } from '../platform/civil-date.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { outOfRange } from '../platform/errors.ts';
import { availableMinor, type Taking, takeDebts } from './allocation.ts';
import { AccountEntity, DeductionEntity, PostingEntity, type PostingKind } from './funds.entity.ts';
import { eventOfMove, publishReleases } from './funds.event.ts';
import { statusOf } from './installment.ts';
import { PartStore } from './installment-store.ts';
import { WaitingDebits } from './pending-debits.ts';
import { carryOver, dayOutOfRange, MAX_AMOUNT_MINOR, type PartChange, rowKey } from './release-rows.ts';
import { ReleaseStore } from './release-store.ts';

/**
 * A merchant's funds inside a transaction that holds their lock: commands on one account run one after the other.
 * Parts, the rows summed from them, postings and debts change together, and only here.
 */
export class FundsAccount {
  readonly today: CivilDate;
  readonly parts: PartStore;
  readonly waiting: WaitingDebits;
  readonly #tx: TenantTransaction;
  readonly #at: Date;
  readonly #releases: ReleaseStore;
  #hasWoken = false;

  private constructor(tx: TenantTransaction, at: Date) {
    this.today = civilDateAt(at);
    this.parts = new PartStore(tx);
    this.waiting = new WaitingDebits(tx);
    this.#tx = tx;
    this.#at = at;
    this.#releases = new ReleaseStore(tx);
  }

  /** Locks the account of the transaction's tenant, made if need be, for a command that happens at an instant. */
  static async lock(tx: TenantTransaction, at: Date): Promise<FundsAccount> {
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
   * Stores what a command has decided, then lets open debts take what has become free, tells of what was released,
   * blocked or unblocked, and has refunds executed that wait for the balance, when it covers one.
   * OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when a row or day would leave the exact range.
   */
  async store(changes: readonly PartChange[]): Promise<void> {
    await this.#settle(changes);
    await this.#wakeRefunds();
  }

  /** As `store`, for amounts taken from parts or given back: each is posted for its source. */
  async storeTakings(kind: PostingKind, sourceId: string, takings: readonly Taking[]): Promise<void> {
    for (const taking of takings) this.#post(kind, sourceId, taking.after.id, taking.amountMinor);
    await this.#settle(takings);
    // What one refund takes gives nothing to another.
    if (kind !== 'REFUND_DEBIT') await this.#wakeRefunds();
  }

  /** Sum of what is released, debits of refunds being off it. */
  async releasedMinor(): Promise<bigint> {
    const [row] = await this.#tx.execute<{ sum: string }>(
      `select coalesce(sum(left_minor), 0)::text as sum from funds.release
        where merchant_id = :merchantId and environment = :environment and status = 'RELEASED'`,
    );
    return BigInt(row!.sum);
  }

  /** Sum of the debts that no part could bear yet. */
  async openDebtsMinor(): Promise<bigint> {
    const debts = await this.#openDebts();
    return debts.reduce((sum, debt) => sum + debt.openDebtMinor, 0n);
  }

  /** What is available to any refund: may be negative. */
  async availableMinor(): Promise<bigint> {
    return availableMinor(await this.releasedMinor(), await this.openDebtsMinor());
  }

  async #settle(changes: readonly PartChange[]): Promise<void> {
    await this.#storeParts(changes);
    await this.#collectDebts();
    await this.#publishMoves(changes);
  }

  async #storeParts(changes: readonly PartChange[]): Promise<void> {
    if (changes.length === 0) return;
    const rows = await this.#releases.onDates(changes.map(({ after }) => after.date));
    const touched = carryOver(rows, changes);
    const kept = new Map([...rows, ...touched].map((row) => [rowKey(row), row]));
    const date = dayOutOfRange(kept.values());
    if (date !== null) {
      throw outOfRange('AMOUNT_OUT_OF_RANGE', `the sums of ${date} would exceed ${MAX_AMOUNT_MINOR}`, {
        date,
      });
    }
    for (const { before, after } of changes) await this.parts.put(after, before === null);
    await this.#releases.put(touched);
    const account = await this.#tx.findOne(AccountEntity, {});
    account!.scheduleId = uuidv7();
    await this.#tx.flush();
  }

  /** Tells of parts that have come into another row of their date: the rows as they now stand, ascending. */
  async #publishMoves(changes: readonly PartChange[]): Promise<void> {
    const moves = Map.groupBy(changes, ({ before, after }) => eventOfMove(before, after));
    for (const [type, moved] of moves) {
      if (type === null) continue;
      const keys = new Set(moved.map(({ after }) => rowKey({ date: after.date, status: statusOf(after) })));
      const rows = await this.#releases.onDates(moved.map(({ after }) => after.date));
      const touched = rows.filter((row) => keys.has(rowKey(row)));
      await publishReleases(this.#tx, type, touched, this.#at);
    }
  }

  async #collectDebts(): Promise<void> {
    const rows = await this.#openDebts();
    if (rows.length === 0) return;
    const owedMinor = rows.reduce((sum, row) => sum + row.openDebtMinor, 0n);
    const debts = rows.map((row) => ({ sourceId: row.sourceId, openMinor: row.openDebtMinor }));
    const paid = takeDebts(debts, await this.parts.free(owedMinor), this.today);
    for (const { sourceId, after, amountMinor } of paid.takings) {
      this.#post('DEBT', sourceId, after.id, amountMinor);
    }
    rows.forEach((row, index) => {
      row.openDebtMinor = paid.debts[index]!.openMinor;
    });
    await this.#storeParts(paid.takings);
  }

  /** Whoever waits has written so under this lock: no rise of the balance is missed. */
  async #wakeRefunds(): Promise<void> {
    if (this.#hasWoken || !(await this.waiting.areThere())) return;
    const covered = await this.waiting.oldestCovered(await this.availableMinor());
    if (covered === undefined) return;
    this.#hasWoken = true;
    await this.#tx.command(refundFunding.startCommand(uuidv7(), this.#tx.tenant));
  }

  #openDebts() {
    const orderBy = { occurredAt: 'asc', sourceId: 'asc' } as const;
    return this.#tx.find(DeductionEntity, { openDebtMinor: { $gt: 0n } }, { orderBy });
  }

  #post(kind: PostingKind, sourceId: string, partId: string, amountMinor: bigint): void {
    this.#tx.create(PostingEntity, { id: uuidv7(), partId, kind, sourceId, amountMinor, postedAt: this.#at });
  }
}
