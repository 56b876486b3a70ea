import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  Batch,
  ClaimBatchResponse,
  DispatchService,
  WorkflowCommand,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { pause } from '../retrying.ts';
import { batchSize, countDispatchErrors } from './dispatch-metrics.ts';
import type { WorkflowStarter } from './workflow-starter.ts';

export interface DispatcherDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly temporal: WorkflowStarter;
  /** How many more attempts this process may begin. */
  room(): number;
  readonly batchIntervalMs: number;
  readonly logger: Logger;
}

export interface Dispatcher {
  /** Asks for no more work, and resolves when what was claimed is handed to Temporal or given up. */
  stop(): Promise<void>;
}

const CLAIM_WAIT_MS = 10_000;
const CLAIM_MARGIN_MS = 5_000;
const MOST_PER_BATCH = 100;
/** Deliveries wait in the table, at no cost, until attempts of this process have ended. */
const WHEN_FULL_MS = 100;
/**
 * A batch costs the same whatever its size, so the busier it is, the longer the waits, which make fewer and larger
 * ones: twice the least one from some 100 deliveries a second on, longer still beyond 750. A full one is followed at
 * once.
 */
const WAIT_PER_DELIVERY_MS = 1_000 / 750;
const SHORT_WAIT_PER_DELIVERY_MS = 8;
const LONGEST_WAIT_MS = 100;
/** Few, so that a thousand commands that came at once leave Temporal room for deliveries. */
const COMMANDS_AT_ONCE = 10;

/**
 * Brings committed work to Temporal, for ever: deliveries (batches and retries that were lost) and workflow commands,
 * each in a lane of its own, so that neither waits for the other. It asks for work only while Temporal answers; what
 * it cannot hand over is handed out again by the service once its lease has ended.
 */
export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const stopping = new AbortController();
  const { signal } = stopping;
  const lanes = [carryOn(deps, dispatchDeliveries, signal), carryOn(deps, dispatchCommands, signal)];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };
}

/** One round of a lane: claims, hands over. @returns whether Temporal has just been seen to answer. */
type Round = (deps: DispatcherDeps, signal: AbortSignal) => Promise<boolean>;

async function carryOn(deps: DispatcherDeps, round: Round, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let temporalAnswers = false;
  while (!signal.aborted) {
    try {
      if (!temporalAnswers) await deps.temporal.ping();
      temporalAnswers = await round(deps, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      temporalAnswers = false;
      countDispatchErrors('CLAIM');
      if (failures === 0) deps.logger.warn({ err: error }, 'dispatch is interrupted');
      await pause(failures, signal);
      failures += 1;
    }
  }
}

async function dispatchDeliveries(deps: DispatcherDeps, signal: AbortSignal): Promise<boolean> {
  const { dispatch, temporal, batchIntervalMs } = deps;
  const room = deps.room();
  if (room <= 0) {
    await delay(WHEN_FULL_MS, undefined, { signal });
    return false;
  }
  const askedAt = performance.now();
  const { batches, retries }: ClaimBatchResponse = await dispatch.claimBatch(
    { waitMs: CLAIM_WAIT_MS, maxDeliveries: Math.min(room, MOST_PER_BATCH) },
    { signal, timeoutMs: CLAIM_WAIT_MS + CLAIM_MARGIN_MS },
  );
  const claimedAt = performance.now();
  for (const { deliveryIds } of batches) batchSize.observe(deliveryIds.length);
  const taken = await handOver(deps, [
    ...batches.map((batch) => temporal.startBatch(batch)),
    ...retries.map((retry) => temporal.startRetry(retry)),
  ]);
  const intervalMs = intervalAfter(batches, batchIntervalMs);
  // Asking takes time too; whoever had to wait for work leaves half the interval to the next who comes.
  const askAgainAt = Math.max(askedAt + intervalMs, claimedAt + intervalMs / 2);
  await delay(Math.max(askAgainAt - performance.now(), 0));
  return taken;
}

function intervalAfter(batches: readonly Batch[], leastMs: number): number {
  if (batches.length === 0) return 0;
  const deliveries = batches.reduce((sum, { deliveryIds }) => sum + deliveryIds.length, 0);
  if (deliveries >= MOST_PER_BATCH) return leastMs;
  return Math.max(
    leastMs,
    Math.min(deliveries * SHORT_WAIT_PER_DELIVERY_MS, 2 * leastMs),
    Math.min(deliveries * WAIT_PER_DELIVERY_MS, LONGEST_WAIT_MS),
  );
}

async function dispatchCommands(deps: DispatcherDeps, signal: AbortSignal): Promise<boolean> {
  const { dispatch, temporal } = deps;
  const { commands } = await dispatch.claimCommands(
    { waitMs: CLAIM_WAIT_MS, maxCommands: COMMANDS_AT_ONCE },
    { signal, timeoutMs: CLAIM_WAIT_MS + CLAIM_MARGIN_MS },
  );
  const carriedOut: string[] = [];
  const inOrder = async (sequence: readonly WorkflowCommand[]) => {
    for (const command of sequence) {
      await temporal.carryOut(command);
      carriedOut.push(command.id);
    }
  };
  // Commands to one workflow keep their order.
  const sequences = [...Map.groupBy(commands, ({ workflowId }) => workflowId).values()];
  const taken = await handOver(deps, sequences.map(inOrder));
  if (carriedOut.length > 0) await dispatch.confirmCommands({ commandIds: carriedOut });
  return taken;
}

/** Waits for all of it; what is not taken comes again, and holds up nothing else. */
async function handOver({ logger }: DispatcherDeps, work: readonly Promise<void>[]): Promise<boolean> {
  const results = await Promise.allSettled(work);
  const refused = results.filter((result) => result.status === 'rejected');
  countDispatchErrors('HAND_OVER', refused.length);
  for (const { reason } of refused) logger.error({ err: reason }, 'Temporal did not take some work');
  return results.length > 0 && refused.length === 0;
}
