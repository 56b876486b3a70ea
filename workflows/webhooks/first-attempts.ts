import { type MakeAttemptsDeps, makeAttempts, type Turn } from './make-attempts.ts';

interface Begun {
  readonly atMs: number;
  readonly turns: Promise<Turn[]>[];
}

/** Longer than a workflow takes to start, also where Temporal is tried again. */
const KEEP_MS = 60_000;

/**
 * The first attempts of batches that this process has claimed. They begin before the workflow of their batch, so that
 * no delivery waits for Temporal; the workflow joins them. What is not joined is recorded all the same.
 */
export class FirstAttempts {
  readonly #deps: MakeAttemptsDeps;
  readonly #begun = new Map<string, Begun>();

  constructor(deps: MakeAttemptsDeps) {
    this.#deps = deps;
  }

  /** A batch that is being filled begins several times. */
  begin(batchId: string, deliveryIds: readonly string[]): void {
    this.#forgetOld();
    const turns = this.make(batchId, deliveryIds);
    // Whoever joins is told, and repeats it.
    turns.catch(() => undefined);
    const begun = this.#begun.get(batchId);
    if (begun) begun.turns.push(turns);
    else this.#begun.set(batchId, { atMs: performance.now(), turns: [turns] });
  }

  /**
   * What came of a batch that was begun here; undefined for any other, and from the second time on, because what has
   * failed is not to be joined again.
   */
  join(batchId: string): Promise<Turn[]> | undefined {
    const begun = this.#begun.get(batchId);
    this.#begun.delete(batchId);
    return begun && Promise.all(begun.turns).then((turns) => turns.flat());
  }

  /** Makes them now. Throws as makeAttempts. */
  make(batchId: string, deliveryIds: readonly string[]): Promise<Turn[]> {
    return makeAttempts(
      this.#deps,
      deliveryIds.map((deliveryId) => ({ deliveryId, batchId })),
    );
  }

  #forgetOld(): void {
    for (const [batchId, { atMs }] of this.#begun) {
      if (performance.now() - atMs < KEEP_MS) return;
      this.#begun.delete(batchId);
    }
  }
}
