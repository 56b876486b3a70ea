import { AttemptLimiter, type Limits } from './attempt-limiter.ts';
import type { QueuedDelivery, WaitingPage } from './delivery-reader.ts';

/** Deliveries in memory, of one subscription and of all; the others stay in the table. Each takes about 4 KB. */
const MAX_READY = 200;
const MIN_READY = 10;
const MAX_READY_OF_ALL = 100_000;
const MAX_PAGE = 100;

/** How many deliveries each of so many subscriptions has in memory. */
export const readyLimit = (subscriptions: number) =>
  Math.max(Math.min(Math.floor(MAX_READY_OF_ALL / subscriptions), MAX_READY), MIN_READY);

/** How many attempts of a delivery were recorded when its next one was requested; 0 without a request. */
export const attemptsOf = ({ status, attempt_count }: QueuedDelivery) =>
  status === 'RETRYING' ? attempt_count : 0;

/**
 * The deliveries of one subscription in this process.
 *
 * A delivery is known from `reserve` to `forget`: it is delayed, then ready, then in flight, then its result is being
 * recorded. A held one is known from `started`. A known delivery is never added again.
 *
 * Others may be left in the table, which is read in pages, new events before resent ones:
 * - `hasMore` is true while any may be left. It becomes false when a page has reached from the start to the end, with
 *   nothing left meanwhile, or when the lane is lost.
 * - While it is true, new deliveries are left in the table, too, so that older ones are sent first.
 * - There is one reader at a time, between `startReading` and `endReading`. It reads one page after the other, each between
 *   `startPage` and `endPage`.
 */
export class SubscriptionQueue {
  readonly limiter = new AttemptLimiter();
  /** Deliveries that wait for the time of their first attempt. */
  readonly #delayed = new Set<string>();
  readonly #ready: QueuedDelivery[] = [];
  readonly #resent: QueuedDelivery[] = [];
  /** The known deliveries, with the number of attempts before the next or current one. */
  readonly #known = new Map<string, number>();
  /** Known deliveries whose result is recorded, and the next attempt requested, although the answer has not arrived yet. */
  readonly #requestedAgain = new Set<string>();
  #hasMore = false;
  #isReading = false;
  /** The last delivery of the previous page; undefined if the next page begins at the start. */
  #cursor: WaitingPage['last'];
  #hasAdded = false;
  /** Whether any delivery has been left in the table since the last page began. */
  #hasLeft = false;
  readonly #readyLimit: () => number;

  /** @param readyLimit how many deliveries it may have in memory now. */
  constructor(readyLimit: () => number) {
    this.#readyLimit = readyLimit;
  }

  /** Whether any delivery waits only for the limits. */
  get hasReady(): boolean {
    return this.#ready.length + this.#resent.length > 0;
  }

  /** Whether the queue can be forgotten: no delivery is known or may be left in the table, and the rate is full. */
  get isIdle(): boolean {
    if (this.#known.size > 0 || this.#hasMore || this.#isReading) return false;
    return this.limiter.hasFullRate;
  }

  get isFull(): boolean {
    return this.#inMemory >= this.#readyLimit();
  }

  /** Whether deliveries may be left in the table. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether any delivery has been added since reading last began at the start. */
  get hasAdded(): boolean {
    return this.#hasAdded;
  }

  /** Whether new deliveries are taken into memory at once. */
  get takesNew(): boolean {
    return !this.isFull && !this.#hasMore;
  }

  /** Whether to read more deliveries from the table. */
  get needsMore(): boolean {
    if (!this.#hasMore || this.#isReading) return false;
    return this.#inMemory < this.#readyLimit() / 4;
  }

  /** How many deliveries wait in memory, for capacity or for their time. */
  get #inMemory(): number {
    return this.#ready.length + this.#resent.length + this.#delayed.size;
  }

  /** How many deliveries to read from the table at a time. */
  get pageSize(): number {
    return Math.min(MAX_PAGE, this.#readyLimit());
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  /**
   * Registers a delivery that is about to be queued.
   * @returns false if it is known, or stays in the table because memory is full.
   */
  reserve(delivery: QueuedDelivery): boolean {
    const known = this.#known.get(delivery.id);
    if (known !== undefined) {
      if (attemptsOf(delivery) > known) this.#requestedAgain.add(delivery.id);
      return false;
    }
    if (this.isFull) {
      this.leftInTable();
      return false;
    }
    this.#known.set(delivery.id, delivery.attempt_count);
    this.#hasAdded = true;
    return true;
  }

  /** Marks a reserved delivery as queued later. */
  delay(id: string): void {
    this.#delayed.add(id);
  }

  /** Ends the delay of a delivery. @returns false if it was removed in the meantime. */
  endDelay(id: string): boolean {
    return this.#delayed.delete(id);
  }

  /** Queues a reserved delivery. */
  push(delivery: QueuedDelivery): void {
    (delivery.resent ? this.#resent : this.#ready).push(delivery);
  }

  /** Takes the next delivery: new events before resent ones. */
  shift(): QueuedDelivery | undefined {
    return this.#ready.shift() ?? this.#resent.shift();
  }

  started({ id, attempt_count }: QueuedDelivery, limits: Limits, nowMs: number): void {
    this.#known.set(id, attempt_count);
    this.limiter.started(id, limits, nowMs);
  }

  /** Call this when the result has been recorded or never will be. */
  forget(id: string): void {
    this.#known.delete(id);
    // Not earlier: while it is known, reading would find it again and again.
    if (this.#requestedAgain.delete(id)) this.leftInTable();
  }

  /** Removes the deliveries whose attempt has not begun, to read them again. */
  restart(): void {
    for (const { id } of [...this.#ready, ...this.#resent]) this.#known.delete(id);
    for (const id of this.#delayed) this.#known.delete(id);
    this.#delayed.clear();
    this.#ready.length = 0;
    this.#resent.length = 0;
    this.readFromStart();
  }

  /** Removes the deliveries whose attempt has not begun, and reads none: this process sends them no more. */
  clear(): void {
    this.restart();
    this.#hasMore = false;
  }

  /** Call this when a delivery that is not known was left in the table. */
  leftInTable(): void {
    this.#hasMore = true;
    this.#hasLeft = true;
  }

  /** Makes the next page begin at the start of the table. */
  readFromStart(): void {
    this.leftInTable();
    this.#cursor = undefined;
  }

  /** @returns false if the table is being read already. */
  startReading(): boolean {
    if (this.#isReading) return false;
    this.#isReading = true;
    // Events that have been published since come before resent ones.
    if (this.#cursor?.resent) this.#cursor = undefined;
    return true;
  }

  endReading(): void {
    this.#isReading = false;
  }

  /** @returns the delivery after which the page begins; undefined for the start of the table. */
  startPage(): WaitingPage['last'] {
    if (this.#cursor === undefined) this.#hasAdded = false;
    this.#hasLeft = false;
    return this.#cursor;
  }

  /**
   * Call this before the deliveries of the page are added.
   * @param after what `startPage` returned.
   */
  endPage(after: WaitingPage['last'], last: WaitingPage['last']): void {
    this.#cursor = last;
    if (after === undefined && last === undefined && !this.#hasLeft) this.#hasMore = false;
  }
}
