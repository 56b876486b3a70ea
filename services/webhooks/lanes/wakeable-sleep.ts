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

  /** Sleeps for at least `minMs` in any case, and then until woken, for at most `maxMs`. */
  async sleep(minMs: number, maxMs: number): Promise<void> {
    await delay(minMs);
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
    this.#woken = false;
  }
}
