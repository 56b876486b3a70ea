import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  ClaimBatchResponse,
  DispatchService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { CLAIM_WAIT_MS, claimCall } from '../claim-wait.ts';
import { type PollLoop, startPollLoop } from '../poll-loop.ts';
import { settleHandover } from '../settle-handover.ts';
import type { WorkflowClient } from '../temporal/workflow-client.ts';
import { batchSize } from './delivery-metrics.ts';
import type { EagerAttempts } from './eager-attempts.ts';
import { OpenBatches } from './open-batches.ts';
import { startBatch, startRetry } from './start-deliveries.ts';

export interface DeliveryDispatcherDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly temporal: WorkflowClient;
  readonly eagerAttempts: EagerAttempts;
  /** How many more attempts this process may start. */
  capacity(): number;
  readonly batchIntervalMs: number;
  readonly logger: Logger;
}

/** While this process is full, deliveries wait in the table at no cost. */
const FULL_RETRY_MS = 100;
/**
 * A workflow costs the same whatever the size of its batch, and started attempts do not wait for it: the higher the
 * load, the longer a batch is filled.
 */
const FILL_PER_DELIVERY_MS = 50;
const MAX_FILL_MS = 250;
/** Attempts of this process that are reserved for retries, which come one at a time. */
const RESERVED_FOR_RETRIES = 100;
/** With more starts that Temporal has not confirmed, no more is claimed. */
const MAX_UNCONFIRMED_STARTS = 10;

/** Dispatches deliveries until it is stopped; then hands over what it has claimed. */
export function startDeliveryDispatcher(deps: DeliveryDispatcherDeps): PollLoop {
  const dispatcher = new DeliveryDispatcher(deps);
  const loop = startPollLoop(deps, (signal) => dispatcher.poll(signal));
  return {
    async stop() {
      await loop.stop();
      await dispatcher.finish();
    },
  };
}

/**
 * Claims deliveries, starts their first attempts and then the workflows of their batches. Attempts whose workflow
 * Temporal does not accept are recorded all the same, and the service requeues those that failed.
 */
class DeliveryDispatcher {
  readonly #deps: DeliveryDispatcherDeps;
  readonly #open = new OpenBatches();
  readonly #starts = new Set<Promise<void>>();
  /** When the next workflows may start; full batches start earlier. */
  #nextStartAtMs = 0;
  /** Whether the last start succeeded. */
  #temporalAnswers = false;
  /** Whether Temporal returns a batch's first task when it is started; otherwise another worker may run the batch. */
  #runsOwnBatches = true;

  constructor(deps: DeliveryDispatcherDeps) {
    this.#deps = deps;
  }

  /** Claims once, and starts the workflows that are due. @returns whether Temporal answers, as far as is known. */
  async poll(signal: AbortSignal): Promise<boolean> {
    const claimedAtMs = performance.now();
    const wasEmpty = this.#open.isEmpty;
    const found = await this.#claim(signal);
    if (this.#open.capacity === 0 || performance.now() >= this.#nextStartAtMs) this.#startBatches();
    if (!found && wasEmpty) return false;
    if (this.#starts.size >= MAX_UNCONFIRMED_STARTS) await Promise.race(this.#starts);
    if (found) await this.#throttle(claimedAtMs);
    return this.#temporalAnswers;
  }

  /** Starts what is claimed, and resolves when Temporal has accepted or refused it. */
  async finish(): Promise<void> {
    this.#startBatches();
    await Promise.all(this.#starts);
  }

  /** Waits for work, but no longer than claimed deliveries may wait for their workflow. @returns whether it found any. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    const capacity = Math.min(this.#deps.capacity() - RESERVED_FOR_RETRIES, this.#open.capacity);
    if (capacity <= 0) {
      await delay(FULL_RETRY_MS, undefined, { signal });
      return false;
    }
    const fillMs = Math.max(Math.ceil(this.#nextStartAtMs - performance.now()), 0);
    const waitMs = this.#open.isEmpty ? CLAIM_WAIT_MS : fillMs;
    const claimed = await this.#deps.dispatch
      .claimBatch({ waitMs, maxDeliveries: capacity, batchIds: this.#open.ids }, claimCall(waitMs, signal))
      .catch((error: unknown) => {
        // The call may have filled the batches: claim into new ones. The service requeues what the call claimed.
        this.#startBatches();
        throw error;
      });
    this.#accept(claimed);
    return claimed.batches.length + claimed.retries.length > 0;
  }

  /** Starts attempts of new deliveries. Requeued batches and retries go to Temporal at once. */
  #accept({ batches, retries }: ClaimBatchResponse): void {
    const { eagerAttempts, temporal } = this.#deps;
    const requeued: Promise<unknown>[] = retries.map((retry) => startRetry(temporal, retry));
    for (const batch of batches) {
      if (!this.#open.has(batch)) {
        requeued.push(startBatch(temporal, batch, false));
        continue;
      }
      this.#open.add(batch);
      if (this.#runsOwnBatches) eagerAttempts.start(batch.id, batch.deliveryIds);
    }
    if (requeued.length > 0) this.#handOver(requeued);
  }

  /** Spaces claims, because each costs the same however little it finds. */
  async #throttle(claimedAtMs: number): Promise<void> {
    const intervalMs = this.#deps.batchIntervalMs / 2;
    const nowMs = performance.now();
    // After a claim that waited for work, half the interval is left for what arrives next.
    await delay(Math.max(claimedAtMs + intervalMs - nowMs, intervalMs / 2));
  }

  #startBatches(): void {
    const { eagerAttempts, temporal, batchIntervalMs } = this.#deps;
    const batches = this.#open.close();
    if (batches.length === 0) return;
    const sizes = batches.map(({ deliveryIds }) => deliveryIds.length);
    for (const size of sizes) batchSize.observe(size);
    const deliveries = sizes.reduce((sum, size) => sum + size, 0);
    const fillMs = this.#runsOwnBatches ? Math.min(deliveries * FILL_PER_DELIVERY_MS, MAX_FILL_MS) : 0;
    this.#nextStartAtMs = performance.now() + Math.max(batchIntervalMs, fillMs);
    const starts = batches.map(async (batch) => {
      this.#runsOwnBatches = await startBatch(temporal, batch, eagerAttempts.has(batch.id));
    });
    this.#handOver(starts);
  }

  #handOver(work: readonly Promise<unknown>[]): void {
    const start = settleHandover(this.#deps.logger, work).then((accepted) => {
      this.#temporalAnswers = accepted;
      this.#starts.delete(start);
    });
    this.#starts.add(start);
  }
}
