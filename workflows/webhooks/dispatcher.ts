import type { WorkflowCommand } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { pause } from '../retrying.ts';
import { DeliveryLane, type DeliveryLaneDeps } from './delivery-lane.ts';
import { countDispatchErrors } from './dispatch-metrics.ts';
import { handOver } from './hand-over.ts';

export type DispatcherDeps = DeliveryLaneDeps;

export interface Dispatcher {
  /** Asks for no more work, and resolves when what was claimed is handed to Temporal or given up. */
  stop(): Promise<void>;
}

const CLAIM_WAIT_MS = 10_000;
const CLAIM_MARGIN_MS = 5_000;
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
  const deliveries = new DeliveryLane(deps);
  const lanes = [
    carryOn(deps, () => deliveries.round(signal), signal),
    carryOn(deps, () => dispatchCommands(deps, signal), signal),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
      await deliveries.finish();
    },
  };
}

/** One round of a lane: claims, hands over. @returns whether Temporal has just been seen to answer. */
type Round = () => Promise<boolean>;

async function carryOn(
  { temporal, logger }: DispatcherDeps,
  round: Round,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  let temporalAnswers = false;
  while (!signal.aborted) {
    try {
      if (!temporalAnswers) await temporal.ping();
      temporalAnswers = await round();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      temporalAnswers = false;
      countDispatchErrors('CLAIM');
      if (failures === 0) logger.warn({ err: error }, 'dispatch is interrupted');
      await pause(failures, signal);
      failures += 1;
    }
  }
}

async function dispatchCommands(
  { dispatch, temporal, logger }: DispatcherDeps,
  signal: AbortSignal,
): Promise<boolean> {
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
  const taken = await handOver(logger, sequences.map(inOrder));
  if (carriedOut.length > 0) await dispatch.confirmCommands({ commandIds: carriedOut });
  return taken;
}
