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

/** The deliveries of one subscription in this process, and how many attempts it may start. */
export class SubscriptionQueue {
  /** Whether the table may have more deliveries than memory. */
  hasMore = false;
  /** The last delivery read from the table; undefined to start from the beginning. */
  cursor: WaitingPage['last'];
  /** Whether any delivery was added since reading started from the beginning. */
  hasAdded = false;
  /** Counts deliveries that were left in the table. */
  leftCount = 0;
  isReading = false;
  /** Deliveries that wait for the time of their first attempt. */
  readonly #delayed = new Set<string>();
  readonly #ready: QueuedDelivery[] = [];
  readonly #resent: QueuedDelivery[] = [];
  /** Deliveries that are ready, in flight, or whose result is not recorded yet. */
  readonly #known = new Set<string>();
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

  get isEmpty(): boolean {
    return this.#ready.length + this.#resent.length === 0;
  }

  /** Whether no delivery is in memory or known to be in the table, and no limit depends on earlier attempts. */
  get isIdle(): boolean {
    if (this.#known.size > 0 || this.hasMore || this.isReading) return false;
    // After a second, any rate allows as much as in a new queue.
    return this.#tokens === undefined || performance.now() - this.#tokensAtMs >= 1_000;
  }

  get isFull(): boolean {
    return this.#inMemory >= this.#readyLimit();
  }

  get needsMore(): boolean {
    if (!this.hasMore || this.isReading) return false;
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

  /** Registers a delivery that is about to be queued. @returns false if it was known already. */
  reserve(id: string): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    this.hasAdded = true;
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

  /** Removes the deliveries whose attempt has not begun; the table may still have them. */
  clear(): void {
    for (const { id } of [...this.#ready, ...this.#resent]) this.#known.delete(id);
    for (const id of this.#delayed) this.#known.delete(id);
    this.#delayed.clear();
    this.leaveInTable();
    this.cursor = undefined;
    this.#ready.length = 0;
    this.#resent.length = 0;
  }

  /** The table has deliveries that are not in memory. */
  leaveInTable(): void {
    this.hasMore = true;
    this.leftCount += 1;
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
