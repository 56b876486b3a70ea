import { setTimeout as delay } from 'node:timers/promises';
import { type MakeAttemptsDeps, makeAttempts, type Turn } from './make-attempts.ts';

interface Begun {
  readonly atMs: number;
  readonly deliveryIds: Set<string>;
  readonly turns: Promise<Turn[]>[];
}

/** Longer than a workflow takes to start, and less than the lease of its batch. */
const KEEP_MS = 50_000;
const WHEN_FULL_MS = 500;
/** What has begun in another process is reported by then, as still under way at the least, unless that has died. */
const REPORTED_AFTER_MS = 500;

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

  /** Begins attempts, also for a batch that is still being filled. */
  begin(batchId: string, deliveryIds: readonly string[]): void {
    this.#forgetOld();
    const turns = this.#make(batchId, deliveryIds);
    // Whoever joins gets the failure, and repeats the activity.
    turns.catch(() => undefined);
    const begun = this.#begun.get(batchId) ?? { atMs: performance.now(), deliveryIds: new Set(), turns: [] };
    for (const id of deliveryIds) begun.deliveryIds.add(id);
    begun.turns.push(turns);
    this.#begun.set(batchId, begun);
  }

  /** Whether attempts of a batch have begun here that nobody has joined. */
  has(batchId: string): boolean {
    return this.#begun.has(batchId);
  }

  /**
   * What comes of the deliveries of a batch: joins what has begun here, once, so that what failed is made anew when it
   * is asked for again, and makes the attempts of all others. Throws as makeAttempts.
   * @param haveBegun whether some have begun wherever the batch was claimed: elsewhere, they are given time.
   */
  async finish(batchId: string, deliveryIds: readonly string[], haveBegun = false): Promise<Turn[]> {
    this.#forgetOld();
    const begun = this.#begun.get(batchId);
    this.#begun.delete(batchId);
    if (haveBegun && !begun) await delay(this.#deps.handOverAfterMs + REPORTED_AFTER_MS);
    const others = begun ? deliveryIds.filter((id) => !begun.deliveryIds.has(id)) : deliveryIds;
    const turns = await Promise.all([...(begun?.turns ?? []), this.#makeWithRoom(batchId, others)]);
    return turns.flat();
  }

  async #makeWithRoom(batchId: string, deliveryIds: readonly string[]): Promise<Turn[]> {
    if (deliveryIds.length === 0) return [];
    // Those under way end within their timeout, and the slot held meanwhile keeps others from coming.
    while (this.#deps.attempts.room <= 0) await delay(WHEN_FULL_MS);
    return this.#make(batchId, deliveryIds);
  }

  #make(batchId: string, deliveryIds: readonly string[]): Promise<Turn[]> {
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
