/** Tracks when periodic work is due: at once, and then at the first opportunity after each interval. */
export class Interval {
  readonly #ms: number;
  #dueAtMs = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** How long until it is due, in whole milliseconds for a timer, which may end up to one early. */
  get remainingMs(): number {
    return Math.max(Math.ceil(this.#dueAtMs - performance.now()) + 1, 0);
  }

  /** Whether the interval has passed; if so, the next one begins. */
  isDue(): boolean {
    const nowMs = performance.now();
    if (nowMs < this.#dueAtMs) return false;
    this.#dueAtMs = nowMs + this.#ms;
    return true;
  }
}
