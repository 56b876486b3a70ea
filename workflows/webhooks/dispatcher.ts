import { dispatchCommands } from '../relay/command-relay.ts';
import { pause } from '../retrying.ts';
import { DeliveryLane, type DeliveryLaneDeps } from './delivery-lane.ts';
import { countDispatchErrors } from './dispatch-metrics.ts';

export interface Dispatcher {
  /** Asks for no more work, and resolves when what was claimed is handed to Temporal or given up. */
  stop(): Promise<void>;
}

/**
 * Brings committed work to Temporal, for ever: deliveries (batches and retries that were lost) and workflow commands,
 * each in a lane of its own, so that neither waits for the other. It asks for work only while Temporal answers; what
 * it cannot hand over is handed out again by the service once its lease has ended.
 */
export function startDispatcher(deps: DeliveryLaneDeps): Dispatcher {
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

/** One round of a lane: claims, hands over. @returns whether Temporal answers, as far as is known. */
type Round = () => Promise<boolean>;

async function carryOn(
  { temporal, logger }: DeliveryLaneDeps,
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
