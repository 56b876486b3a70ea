import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  ClaimBatchResponse,
  DispatchService,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { pause } from '../retrying.ts';
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

/**
 * Brings committed work to Temporal, for ever: batches, retries that were lost, workflow commands. It asks for work
 * only while Temporal answers; what it cannot start is handed out again by the service once its lease has ended.
 */
export function startDispatcher(deps: DispatcherDeps): Dispatcher {
  const stopping = new AbortController();
  const running = run(deps, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function run(deps: DispatcherDeps, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let temporalAnswers = false;
  while (!signal.aborted) {
    try {
      if (!temporalAnswers) await deps.temporal.ping();
      const claimed = await claim(deps, signal);
      const interval = delay(claimed.batches.length > 0 ? deps.batchIntervalMs : 0);
      temporalAnswers = await carryOut(deps, claimed);
      await interval;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      temporalAnswers = false;
      if (failures === 0) deps.logger.warn({ err: error }, 'dispatch is interrupted');
      await pause(failures, signal);
      failures += 1;
    }
  }
}

function claim({ dispatch, room }: DispatcherDeps, signal: AbortSignal): Promise<ClaimBatchResponse> {
  // Never none: commands come by the same call.
  const maxDeliveries = Math.min(Math.max(room(), 1), MOST_PER_BATCH);
  return dispatch.claimBatch(
    { waitMs: CLAIM_WAIT_MS, maxDeliveries },
    { signal, timeoutMs: CLAIM_WAIT_MS + CLAIM_MARGIN_MS },
  );
}

/**
 * Hands all of it to Temporal side by side; what is not taken comes again, and holds up nothing else.
 * @returns whether Temporal has just been seen to answer.
 */
async function carryOut(
  { temporal, dispatch, logger }: DispatcherDeps,
  { batches, retries, commands }: ClaimBatchResponse,
): Promise<boolean> {
  const carriedOut: string[] = [];
  // Commands to one workflow keep their order.
  const sequences = [...Map.groupBy(commands, ({ workflowId }) => workflowId).values()];
  const results = await Promise.allSettled([
    ...batches.map((batch) => temporal.startBatch(batch)),
    ...retries.map((retry) => temporal.startRetry(retry)),
    ...sequences.map(async (sequence) => {
      for (const command of sequence) {
        await temporal.carryOut(command);
        carriedOut.push(command.id);
      }
    }),
  ]);
  const refused = results.filter((result) => result.status === 'rejected');
  for (const { reason } of refused) logger.error({ err: reason }, 'Temporal did not take some work');
  if (carriedOut.length > 0) await dispatch.confirmCommands({ commandIds: carriedOut });
  return results.length > 0 && refused.length === 0;
}
