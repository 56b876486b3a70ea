import type { LaneSubscription } from './subscription-cache.ts';

/** Attempts in flight: one more with each success, up to the maximum or the subscription's own limit, half with a failure. */
const FIRST_CONCURRENCY = 10;
const DEFAULT_MAX_CONCURRENCY = 50;
/** How many attempts may take longer than this before no other starts, so that an endpoint that hangs occupies few. */
const SLOW_AFTER_MS = 250;
const MAX_SLOW = 10;

export type Limits = Pick<LaneSubscription, 'maxConcurrentAttempts' | 'maxAttemptsPerSecond'>;

/** How many attempts of one subscription this process may start: by its limits, and by how its endpoint responds. */
export class AttemptLimiter {
  #concurrency = FIRST_CONCURRENCY;
  /** When each attempt in flight began, oldest first. */
  readonly #startedAtMs = new Map<string, number>();
  /** Attempts that the rate allows; undefined without a rate. */
  #tokens: number | undefined;
  #tokensAtMs = 0;

  /** Whether the rate no longer depends on earlier attempts: after a second, any allows at least as much as at first. */
  get hasFullRate(): boolean {
    return this.#tokens === undefined || performance.now() - this.#tokensAtMs >= 1_000;
  }

  /** How many more attempts may start. */
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

  started(id: string, nowMs: number): void {
    this.#startedAtMs.set(id, nowMs);
    if (this.#tokens !== undefined) this.#tokens -= 1;
  }

  ended(id: string, succeeded: boolean, limits: Limits): void {
    this.#startedAtMs.delete(id);
    this.#concurrency = succeeded
      ? Math.min(this.#concurrency + 1, maxInFlight(limits))
      : Math.max(Math.floor(this.#concurrency / 2), 1);
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
