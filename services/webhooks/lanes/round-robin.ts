export interface RoundRobinOptions {
  /** Starts an attempt of a subscription. @returns false if it cannot start any. */
  readonly start: (id: string) => boolean;
  /** Whether no subscription may start any; all of them then keep their turns. */
  readonly isFull: () => boolean;
  /** Called when a subscription that was added for later has its turn. */
  readonly onLater: () => void;
}

/**
 * The turns of subscriptions to start an attempt. A subscription has a turn from `add` until a round finds that it cannot
 * start any; whatever removes the obstacle adds it again.
 */
export class RoundRobin {
  /** The subscriptions that have a turn, in order, and since when they have been waiting. */
  readonly #sinceMs = new Map<string, number>();
  /** The subscriptions that get their turn later. */
  readonly #later = new Set<string>();
  readonly #options: RoundRobinOptions;

  constructor(options: RoundRobinOptions) {
    this.#options = options;
  }

  /** The longest that a subscription with a turn has been waiting, in milliseconds. */
  get longestWaitMs(): number {
    return longestWaitMs(this.#sinceMs.values());
  }

  add(id: string): void {
    if (!this.#sinceMs.has(id)) this.#sinceMs.set(id, performance.now());
  }

  /** Adds a subscription after a wait, unless it waits already. */
  addLater(id: string, waitMs: number): void {
    if (this.#later.has(id)) return;
    this.#later.add(id);
    setTimeout(() => {
      this.#later.delete(id);
      this.add(id);
      this.#options.onLater();
    }, Math.ceil(waitMs)).unref();
  }

  remove(id: string): void {
    this.#sinceMs.delete(id);
  }

  /** Lets subscriptions start one attempt each, round after round, until none can. */
  run(): void {
    const { start, isFull } = this.#options;
    for (let hasStarted = true; hasStarted; ) {
      hasStarted = false;
      for (const id of this.#sinceMs.keys()) {
        if (isFull()) return;
        if (start(id)) {
          hasStarted = true;
          this.#sinceMs.set(id, performance.now());
        } else this.#sinceMs.delete(id);
      }
    }
  }
}

/** How long ago the first of these times by `performance.now()` was, in milliseconds; 0 without any. */
export function longestWaitMs(sinceMs: Iterable<number>): number {
  const nowMs = performance.now();
  let firstMs = nowMs;
  for (const eachMs of sinceMs) firstMs = Math.min(firstMs, eachMs);
  return nowMs - firstMs;
}
