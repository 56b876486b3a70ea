import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Batch, DispatchService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { batchSize } from './dispatch-metrics.ts';
import type { FirstAttempts } from './first-attempts.ts';
import { handOver } from './hand-over.ts';
import { OpenBatches } from './open-batches.ts';
import type { WorkflowStarter } from './workflow-starter.ts';

export interface DeliveryLaneDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly temporal: WorkflowStarter;
  readonly firstAttempts: FirstAttempts;
  /** How many more attempts this process may begin. */
  room(): number;
  readonly batchIntervalMs: number;
  readonly logger: Logger;
}

const CLAIM_WAIT_MS = 10_000;
const CLAIM_MARGIN_MS = 5_000;
/** Deliveries wait in the table, at no cost, until attempts of this process have ended. */
const WHEN_FULL_MS = 100;
/**
 * A workflow costs the same whatever the size of its batch, and what has begun does not wait for it: the busier it is,
 * the longer a batch is filled.
 */
const FILL_PER_DELIVERY_MS = 25;
const LONGEST_FILL_MS = 100;
/** Rounds of starts that Temporal has not confirmed yet: until it does, no more is claimed. */
const MOST_STARTS = 10;

/**
 * Claims deliveries, begins their first attempts and starts the workflows of their batches behind them. Attempts whose
 * workflow Temporal does not take are recorded all the same, and those that failed handed out again by the service.
 */
export class DeliveryLane {
  readonly #deps: DeliveryLaneDeps;
  readonly #open = new OpenBatches();
  readonly #starts = new Set<Promise<void>>();
  /** When the next workflows may start. */
  #startAtMs = 0;
  #temporalAnswers = false;
  /** With the answer to a start, so that its workflow runs in this process; otherwise another worker may run it. */
  #temporalGivesFirstTasks = true;

  constructor(deps: DeliveryLaneDeps) {
    this.#deps = deps;
  }

  /** One claim. @returns whether Temporal has just been seen to answer. */
  async round(signal: AbortSignal): Promise<boolean> {
    const room = Math.min(this.#deps.room(), this.#open.room);
    if (room > 0) {
      const isIdle = await this.#claim(room, signal);
      if (isIdle) return false;
    } else {
      await delay(WHEN_FULL_MS, undefined, { signal });
    }
    if (this.#open.room === 0 || performance.now() >= this.#startAtMs) this.#startBatches();
    if (this.#starts.size >= MOST_STARTS) await Promise.race(this.#starts);
    return this.#temporalAnswers;
  }

  /** Starts what is claimed, and resolves when Temporal has taken or refused it. */
  async finish(): Promise<void> {
    this.#startBatches();
    await Promise.all(this.#starts);
  }

  /** @returns whether there has been nothing for a long time. */
  async #claim(room: number, signal: AbortSignal): Promise<boolean> {
    const { dispatch, temporal, batchIntervalMs, logger } = this.#deps;
    const askedAtMs = performance.now();
    const waitMs = this.#open.isEmpty ? CLAIM_WAIT_MS : Math.max(Math.ceil(this.#startAtMs - askedAtMs), 0);
    const { batches, retries } = await dispatch.claimBatch(
      { waitMs, maxDeliveries: room, batchIds: this.#open.ids },
      { signal, timeoutMs: waitMs + CLAIM_MARGIN_MS },
    );
    const claimedAtMs = performance.now();
    for (const batch of batches.filter((claimed) => this.#open.has(claimed))) this.#begin(batch);
    const again = [
      ...batches.filter((claimed) => !this.#open.has(claimed)).map((batch) => temporal.startBatch(batch)),
      ...retries.map((retry) => temporal.startRetry(retry)),
    ];
    if (again.length > 0) this.#temporalAnswers = await handOver(logger, again);
    if (batches.length + retries.length === 0) return waitMs === CLAIM_WAIT_MS;
    // Asking takes time too; who had to wait for work leaves half of that time to the next who comes.
    const apartMs = batchIntervalMs / 2;
    const askAgainAtMs = Math.max(askedAtMs + apartMs, claimedAtMs + apartMs / 2);
    await delay(Math.max(askAgainAtMs - performance.now(), 0));
    return false;
  }

  #begin(batch: Batch): void {
    if (this.#temporalGivesFirstTasks) this.#deps.firstAttempts.begin(batch.id, batch.deliveryIds);
    this.#open.add(batch);
  }

  #startBatches(): void {
    if (this.#open.isEmpty) return;
    const { temporal, logger, batchIntervalMs } = this.#deps;
    const batches = this.#open.close();
    const sizes = batches.map(({ deliveryIds }) => deliveryIds.length);
    for (const size of sizes) batchSize.observe(size);
    const deliveries = sizes.reduce((sum, size) => sum + size, 0);
    const fillMs = this.#temporalGivesFirstTasks
      ? Math.min(deliveries * FILL_PER_DELIVERY_MS, LONGEST_FILL_MS)
      : 0;
    this.#startAtMs = performance.now() + Math.max(batchIntervalMs, fillMs);
    const started = batches.map(async (batch) => {
      this.#temporalGivesFirstTasks = await temporal.startBatch(batch);
    });
    const start = handOver(logger, started).then((taken) => {
      this.#temporalAnswers = taken;
      this.#starts.delete(start);
    });
    this.#starts.add(start);
  }
}
