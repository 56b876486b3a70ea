import type { QueuedDelivery, WaitingPage } from './delivery-reader.ts';
import type { LaneSubscription } from './subscription-cache.ts';

/**
 * Attempts of one subscription in flight: starts here and rises with each success, up to the maximum or the
 * subscription's own limit.
 */
const FIRST_CONCURRENCY = 10;
const DEFAULT_MAX_CONCURRENCY = 50;
/**
 * How many attempts may take longer than this before no other starts, so that an endpoint that hangs occupies few.
 */
const SLOW_AFTER_MS = 250;
const MAX_SLOW = 10;
/** Deliveries in memory, of one subscription and of all; the others stay in the table. Each takes about 4 KB. */
const MAX_READY = 200;
const MIN_READY = 10;
const MAX_READY_OF_ALL = 100_000;
const MAX_PAGE = 100;

/** How many deliveries each of so many subscriptions has in memory. */
export const readyLimit = (subscriptions: number) =>
  Math.max(Math.min(Math.floor(MAX_READY_OF_ALL / subscriptions), MAX_READY), MIN_READY);

type Limits = Pick<LaneSubscription, 'maxConcurrentAttempts' | 'maxAttemptsPerSecond'>;

/**
 * The deliveries of one subscription in this process, and how many attempts it may start.
 *
 * A delivery is known from `reserve` to `forget`: it is delayed, then ready, then in flight, then its result is being
 * recorded. A known delivery is never added again.
 *
 * Deliveries that are not known may be waiting in the table, which is read in pages, new events before resent ones:
 * - `hasMore` is true while any may be. Only a page from the start to the end, with nothing left in the table meanwhile,
 *   makes it false, or the loss of the lane.
 * - While it is true, new deliveries stay in the table, too, so that older ones are sent first.
 * - There is one reader at a time, between `startReading` and `endReading`. It reads one page after the other, each between
 *   `startPage` and `endPage`.
 */
export class SubscriptionQueue {
  /** Deliveries that wait for the time of their first attempt. */
  readonly #delayed = new Set<string>();
  readonly #ready: QueuedDelivery[] = [];
  readonly #resent: QueuedDelivery[] = [];
  readonly #known = new Set<string>();
  #hasMore = false;
  #isReading = false;
  /** The last delivery of the previous page; undefined if the next page begins at the start. */
  #cursor: WaitingPage['last'];
  #hasAdded = false;
  /** Whether any delivery has been left in the table since the last page began. */
  #hasLeft = false;
  /** When each attempt in flight began, oldest first. */
  readonly #startedAtMs = new Map<string, number>();
  readonly #readyLimit: () => number;
  #concurrency = FIRST_CONCURRENCY;
  #tokens: number | undefined;
  #tokensAtMs = 0;

  /** @param readyLimit how many deliveries it may have in memory now. */
  constructor(readyLimit: () => number) {
    this.#readyLimit = readyLimit;
  }

  /** Whether any delivery waits only for the limits. */
  get hasReady(): boolean {
    return this.#ready.length + this.#resent.length > 0;
  }

  /** Whether no delivery is known or may be in the table, and no limit depends on earlier attempts. */
  get isIdle(): boolean {
    if (this.#known.size > 0 || this.#hasMore || this.#isReading) return false;
    // After a second, any rate allows as much as in a new queue.
    return this.#tokens === undefined || performance.now() - this.#tokensAtMs >= 1_000;
  }

  get isFull(): boolean {
    return this.#inMemory >= this.#readyLimit();
  }

  /** Whether the table may have deliveries that are not known. */
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
   * @returns false if it was known already, or stays in the table because memory is full.
   */
  reserve(id: string): boolean {
    if (this.#known.has(id)) return false;
    if (this.isFull) {
      this.leftInTable();
      return false;
    }
    this.#known.add(id);
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

  /** How many more attempts the limits allow, including those of resent deliveries. */
  capacity(limits: Limits, nowMs: number): number {
    const free = Math.min(this.#concurrency, maxInFlight(limits)) - this.#startedAtMs.size;
    if (free <= 0 || this.#isSlow(nowMs)) return 0;
    return Math.min(free, Math.floor(this.#tokensAt(limits.maxAttemptsPerSecond, nowMs)));
  }

  /** The milliseconds until the rate allows the next attempt; undefined if it does now. */
  waitForRateMs({ maxAttemptsPerSecond: rate }: Limits, nowMs: number): number | undefined {
    if (rate === null) return undefined;
    const tokens = this.#tokensAt(rate, nowMs);
    return tokens >= 1 ? undefined : (1_000 * (1 - tokens)) / rate;
  }

  /** Takes the next delivery: new events before resent ones. */
  shift(): QueuedDelivery | undefined {
    return this.#ready.shift() ?? this.#resent.shift();
  }

  started(delivery: QueuedDelivery, nowMs: number): void {
    this.#known.add(delivery.id);
    this.#startedAtMs.set(delivery.id, nowMs);
    if (this.#tokens !== undefined) this.#tokens -= 1;
  }

  /** The attempt has ended; its result is not recorded yet. */
  ended(id: string, succeeded: boolean, limits: Limits): void {
    this.#startedAtMs.delete(id);
    this.#concurrency = succeeded
      ? Math.min(this.#concurrency + 1, maxInFlight(limits))
      : Math.max(Math.floor(this.#concurrency / 2), 1);
  }

  /** Call this when the result has been recorded or never will be. */
  forget(id: string): void {
    this.#known.delete(id);
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

  /** Removes the deliveries whose attempt has not begun: the new owner of the lane sends them. */
  laneLost(): void {
    this.restart();
    this.#hasMore = false;
  }

  /** The table has a delivery that is not known. */
  leftInTable(): void {
    this.#hasMore = true;
    this.#hasLeft = true;
  }

  /** The table may have any deliveries: everything in it is read again. */
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

  #isSlow(nowMs: number): boolean {
    let slow = 0;
    for (const startedAtMs of this.#startedAtMs.values()) {
      if (nowMs - startedAtMs < SLOW_AFTER_MS) return false;
      slow += 1;
      if (slow >= MAX_SLOW) return true;
    }
    return false;
  }

  /** Attempts that the rate allows, with bursts of up to one second's worth. */
  #tokensAt(rate: number | null, nowMs: number): number {
    if (rate === null) {
      this.#tokens = undefined;
      return Number.POSITIVE_INFINITY;
    }
    // A new owner does not know what the previous one has sent, so it starts with a single attempt.
    const before = this.#tokens ?? 1;
    const elapsedMs = this.#tokens === undefined ? 0 : nowMs - this.#tokensAtMs;
    this.#tokens = Math.min(before + (rate * elapsedMs) / 1_000, rate);
    this.#tokensAtMs = nowMs;
    return this.#tokens;
  }
}

const maxInFlight = ({ maxConcurrentAttempts }: Limits) => maxConcurrentAttempts ?? DEFAULT_MAX_CONCURRENCY;
