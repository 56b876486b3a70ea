import { v7 as uuidv7 } from 'uuid';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { AccountEntity, PostingEntity } from './funds.entity.ts';
import type { Posting } from './funds-change.ts';
import {
  applyToReleases,
  type InstallmentChange,
  requireExactSums,
  withChanged,
} from './releases/release-rows.ts';
import type { ReleaseStore } from './releases/release-store.ts';
import type { InstallmentStore } from './sales/installment-store.ts';
import { type AddedSale, addSales, type NewSale } from './sales/new-sales.ts';
import { insertSales, updateSaleStatuses } from './sales/sale-store.ts';

/**
 * Writes what changes together in an account: its installments, the release rows that sum them up, the statuses of its
 * sales, and postings. The transaction holds the account's lock.
 */
export class AccountLedger {
  readonly #tx: TenantTransaction;
  readonly #installments: InstallmentStore;
  readonly #releases: ReleaseStore;

  constructor(tx: TenantTransaction, installments: InstallmentStore, releases: ReleaseStore) {
    this.#tx = tx;
    this.#installments = installments;
    this.#releases = releases;
  }

  /** Posts amounts that are deducted from installments or restored to them. */
  post(postings: readonly Posting[], postedAt: Date): void {
    for (const posting of postings) this.#tx.create(PostingEntity, { id: uuidv7(), ...posting, postedAt });
  }

  /** Stores changed installments. OUT_OF_RANGE (AMOUNT_OUT_OF_RANGE) when the sums of a day would exceed the exact range. */
  async change(changes: readonly InstallmentChange[]): Promise<void> {
    if (changes.length === 0) return;
    const rows = await this.#releases.onDates(changes.map(({ after }) => after.date));
    const changed = applyToReleases(rows, changes, await this.#installments.unchangedParts(changes));
    requireExactSums(withChanged(rows, changed));
    for (const { before, after } of changes) await this.#installments.put(after, before === null);
    await this.#releases.put(changed);
    await this.#renewSchedule();
    await updateSaleStatuses(this.#tx, changes);
  }

  /**
   * Inserts new sales with a fixed number of statements, and returns those that it has inserted: not the ones that would
   * take a day above the exact range.
   */
  async insert(sales: readonly NewSale[]): Promise<readonly AddedSale[]> {
    const dates = sales.flatMap(({ installments }) => installments.map(({ date }) => date));
    const { added, rows } = addSales(await this.#releases.onDates(dates), sales);
    if (added.length === 0) return [];
    const inserted = added.map(({ sale }) => sale);
    await insertSales(this.#tx, inserted);
    await this.#installments.insertAll(inserted.flatMap(({ installments }) => installments));
    await this.#releases.putAdded(rows);
    await this.#renewSchedule();
    return added;
  }

  /** Outdates what was read to quote an advance. */
  async #renewSchedule(): Promise<void> {
    const account = await this.#tx.findOne(AccountEntity, {});
    account!.scheduleId = uuidv7();
    await this.#tx.flush();
  }
}
