import { setTimeout as delay } from 'node:timers/promises';
import { BATCH_LEASE_MS } from '../../services/contracts/webhooks/delivery-limits.ts';
import { type AttemptOutcome, type MakeAttemptsDeps, makeAttempts } from './make-attempts.ts';

interface StartedBatch {
  readonly atMs: number;
  readonly deliveryIds: Set<string>;
  readonly outcomes: Promise<AttemptOutcome[]>[];
}

/** Longer than a workflow takes to start, and less than the lease of its batch. */
const KEEP_MS = BATCH_LEASE_MS - 10_000;
const FULL_RETRY_MS = 500;
/** Attempts that another process started are reported by then, at least as still running, unless it has died. */
const REPORTED_AFTER_MS = 500;

/**
 * First attempts of batches that this process has claimed. They start before the workflow of their batch, so that no
 * delivery waits for Temporal; the workflow then joins them. Attempts that nothing joins are recorded all the same.
 */
export class EagerAttempts {
  readonly #deps: MakeAttemptsDeps;
  readonly #started = new Map<string, StartedBatch>();

  constructor(deps: MakeAttemptsDeps) {
    this.#deps = deps;
  }

  /** Starts attempts, also for a batch that is still being filled. */
  start(batchId: string, deliveryIds: readonly string[]): void {
    this.#deleteOld();
    const outcomes = this.#make(batchId, deliveryIds);
    // The activity that joins receives the failure, and is retried.
    outcomes.catch(() => undefined);
    const started = this.#started.get(batchId) ?? {
      atMs: performance.now(),
      deliveryIds: new Set(),
      outcomes: [],
    };
    for (const id of deliveryIds) started.deliveryIds.add(id);
    started.outcomes.push(outcomes);
    this.#started.set(batchId, started);
  }

  /** Whether attempts of a batch have been started here and not been joined. */
  has(batchId: string): boolean {
    return this.#started.has(batchId);
  }

  /**
   * The outcomes of a batch: joins the attempts started here, once, so that a retried activity makes failed ones again,
   * and makes the attempts of the other deliveries. Throws as makeAttempts.
   * @param startedEagerly whether the process that claimed the batch started attempts: if it is another one, they get
   * time to be reported.
   */
  async join(
    batchId: string,
    deliveryIds: readonly string[],
    startedEagerly = false,
  ): Promise<AttemptOutcome[]> {
    this.#deleteOld();
    const started = this.#started.get(batchId);
    this.#started.delete(batchId);
    if (startedEagerly && !started) await delay(this.#deps.handOverAfterMs + REPORTED_AFTER_MS);
    const others = started ? deliveryIds.filter((id) => !started.deliveryIds.has(id)) : deliveryIds;
    const outcomes = await Promise.all([
      ...(started?.outcomes ?? []),
      this.#makeWithCapacity(batchId, others),
    ]);
    return outcomes.flat();
  }

  async #makeWithCapacity(batchId: string, deliveryIds: readonly string[]): Promise<AttemptOutcome[]> {
    if (deliveryIds.length === 0) return [];
    // Running attempts end within their timeout; meanwhile the occupied worker slot keeps more batches away.
    while (this.#deps.attempts.capacity <= 0) await delay(FULL_RETRY_MS);
    return this.#make(batchId, deliveryIds);
  }

  #make(batchId: string, deliveryIds: readonly string[]): Promise<AttemptOutcome[]> {
    return makeAttempts(
      this.#deps,
      deliveryIds.map((deliveryId) => ({ deliveryId, batchId })),
    );
  }

  #deleteOld(): void {
    for (const [batchId, { atMs }] of this.#started) {
      if (performance.now() - atMs < KEEP_MS) return;
      this.#started.delete(batchId);
    }
  }
}
