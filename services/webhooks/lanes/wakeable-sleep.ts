import { setTimeout as delay } from 'node:timers/promises';

/** A sleep that can be ended early, also by a wake-up that came before it. */
export class WakeableSleep {
  #woken = false;
  #end: (() => void) | undefined;

  /** Ends the current sleep, or else the next one. */
  wake(): void {
    this.#woken = true;
    this.#end?.();
  }

  /** Sleeps until woken, for at most `maxMs`, but in any case for at least `minMs`. */
  async sleep(maxMs: number, minMs = 0): Promise<void> {
    const startedAtMs = performance.now();
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#end = undefined;
    // Most sleeps are not woken early: a timer for the least time first would wake an idle process once more for each.
    const remainingMs = minMs - (performance.now() - startedAtMs);
    if (remainingMs > 0) await delay(remainingMs);
    this.#woken = false;
  }
}
