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
import type { FirstAttempts } from './first-attempts.ts';
import { OpenBatches } from './open-batches.ts';
import { startBatch, startRetry } from './start-deliveries.ts';

export interface DeliveryDispatcherDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly temporal: WorkflowClient;
  readonly firstAttempts: FirstAttempts;
  /** How many more attempts this process may begin. */
  room(): number;
  readonly batchIntervalMs: number;
  readonly logger: Logger;
}

/** Deliveries wait in the table, at no cost, until attempts of this process have ended. */
const WHEN_FULL_MS = 100;
/**
 * A workflow costs the same whatever the size of its batch, and what has begun does not wait for it: the busier it is,
 * the longer a batch is filled.
 */
const FILL_PER_DELIVERY_MS = 50;
const LONGEST_FILL_MS = 250;
/** Of the attempts that this process may begin: what is new takes all there is, and retries come one by one. */
const LEFT_FOR_RETRIES = 100;
/** Rounds of starts that Temporal has not confirmed yet: until it does, no more is claimed. */
const MOST_STARTS = 10;

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
 * Claims deliveries, begins their first attempts and starts the workflows of their batches behind them. Attempts whose
 * workflow Temporal does not take are recorded all the same, and those that failed handed out again by the service.
 */
class DeliveryDispatcher {
  readonly #deps: DeliveryDispatcherDeps;
  readonly #open = new OpenBatches();
  readonly #starts = new Set<Promise<void>>();
  /** When the next workflows may start; full batches start before. */
  #startAtMs = 0;
  /** Of the last start that was answered. */
  #temporalAnswers = false;
  /** With the answer to a start, so that its workflow runs in this process; otherwise another worker may run it. */
  #temporalGivesFirstTasks = true;

  constructor(deps: DeliveryDispatcherDeps) {
    this.#deps = deps;
  }

  /** Claims once, and starts the workflows that are due. @returns whether Temporal answers, as far as is known. */
  async poll(signal: AbortSignal): Promise<boolean> {
    const askedAtMs = performance.now();
    const wasEmpty = this.#open.isEmpty;
    const found = await this.#claim(signal);
    if (this.#open.room === 0 || performance.now() >= this.#startAtMs) this.#startBatches();
    if (!found && wasEmpty) return false;
    if (this.#starts.size >= MOST_STARTS) await Promise.race(this.#starts);
    if (found) await this.#pace(askedAtMs);
    return this.#temporalAnswers;
  }

  /** Starts what is claimed, and resolves when Temporal has taken or refused it. */
  async finish(): Promise<void> {
    this.#startBatches();
    await Promise.all(this.#starts);
  }

  /** Waits for work, no longer than what is claimed already waits for its workflow. @returns whether there was any. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    const room = Math.min(this.#deps.room() - LEFT_FOR_RETRIES, this.#open.room);
    if (room <= 0) {
      await delay(WHEN_FULL_MS, undefined, { signal });
      return false;
    }
    const fillMs = Math.max(Math.ceil(this.#startAtMs - performance.now()), 0);
    const waitMs = this.#open.isEmpty ? CLAIM_WAIT_MS : fillMs;
    const claimed = await this.#deps.dispatch
      .claimBatch({ waitMs, maxDeliveries: room, batchIds: this.#open.ids }, claimCall(waitMs, signal))
      .catch((error: unknown) => {
        // It may have claimed as much as there is room for, which is handed out again by itself.
        this.#startBatches();
        throw error;
      });
    this.#take(claimed);
    return claimed.batches.length + claimed.retries.length > 0;
  }

  /** Begins what is new. Batches and retries of before, which are handed out again, go to Temporal at once. */
  #take({ batches, retries }: ClaimBatchResponse): void {
    const { firstAttempts, temporal } = this.#deps;
    const again: Promise<unknown>[] = retries.map((retry) => startRetry(temporal, retry));
    for (const batch of batches) {
      if (!this.#open.has(batch)) {
        again.push(startBatch(temporal, batch, false));
        continue;
      }
      this.#open.add(batch);
      if (this.#temporalGivesFirstTasks) firstAttempts.begin(batch.id, batch.deliveryIds);
    }
    if (again.length > 0) this.#handOver(again);
  }

  /** Between two claims, because each costs the same however little it finds. */
  async #pace(askedAtMs: number): Promise<void> {
    const apartMs = this.#deps.batchIntervalMs / 2;
    const nowMs = performance.now();
    // Asking takes time too; who had to wait for work leaves half of that time to the next who comes.
    await delay(Math.max(askedAtMs + apartMs - nowMs, apartMs / 2));
  }

  #startBatches(): void {
    const { firstAttempts, temporal, batchIntervalMs } = this.#deps;
    const batches = this.#open.close();
    if (batches.length === 0) return;
    const sizes = batches.map(({ deliveryIds }) => deliveryIds.length);
    for (const size of sizes) batchSize.observe(size);
    const deliveries = sizes.reduce((sum, size) => sum + size, 0);
    const fillMs = this.#temporalGivesFirstTasks
      ? Math.min(deliveries * FILL_PER_DELIVERY_MS, LONGEST_FILL_MS)
      : 0;
    this.#startAtMs = performance.now() + Math.max(batchIntervalMs, fillMs);
    const started = batches.map(async (batch) => {
      this.#temporalGivesFirstTasks = await startBatch(temporal, batch, firstAttempts.has(batch.id));
    });
    this.#handOver(started);
  }

  #handOver(work: readonly Promise<unknown>[]): void {
    const start = settleHandover(this.#deps.logger, work).then((taken) => {
      this.#temporalAnswers = taken;
      this.#starts.delete(start);
    });
    this.#starts.add(start);
  }
}
