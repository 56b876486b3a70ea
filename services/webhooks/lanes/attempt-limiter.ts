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
  /** When the rate allows the next attempt; undefined without a rate, or before the first attempt. */
  #nextAtMs: number | undefined;

  /** Whether earlier attempts do not matter: the rate allows a full second's worth, which is the most it ever allows. */
  get hasFullRate(): boolean {
    return this.#nextAtMs === undefined || performance.now() - this.#nextAtMs >= 1_000;
  }

  /** How many more attempts may start. */
  capacity(limits: Limits, nowMs: number): number {
    const free = Math.min(this.#concurrency, maxInFlight(limits)) - this.#startedAtMs.size;
    if (free <= 0 || this.#isSlow(nowMs)) return 0;
    const { maxAttemptsPerSecond: rate } = limits;
    if (rate === null) return free;
    const allowed = Math.floor(((nowMs - this.#nextAt(rate, nowMs)) * rate) / 1_000) + 1;
    return Math.min(free, Math.max(allowed, 0));
  }

  /** The milliseconds until the rate allows the next attempt; undefined if it does now. */
  waitForRateMs({ maxAttemptsPerSecond: rate }: Limits, nowMs: number): number | undefined {
    if (rate === null) return undefined;
    const nextAtMs = this.#nextAt(rate, nowMs);
    return nextAtMs > nowMs ? nextAtMs - nowMs : undefined;
  }

  started(id: string, { maxAttemptsPerSecond: rate }: Limits, nowMs: number): void {
    this.#startedAtMs.set(id, nowMs);
    this.#nextAtMs = rate === null ? undefined : this.#nextAt(rate, nowMs) + 1_000 / rate;
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

  /** When the rate allows the next attempt: long enough ago for bursts of up to one second's worth. */
  #nextAt(rate: number, nowMs: number): number {
    // A new owner does not know what the previous one has sent, so it starts with a single attempt.
    return Math.max(this.#nextAtMs ?? nowMs, nowMs - 1_000 + 1_000 / rate);
  }
}

const maxInFlight = ({ maxConcurrentAttempts }: Limits) => maxConcurrentAttempts ?? DEFAULT_MAX_CONCURRENCY;
