import type { Logger } from 'pino';
import { countCommandErrors } from './relay/relay-metrics.ts';
import { backOff } from './retrying.ts';
import type { WorkflowClient } from './temporal/workflow-client.ts';

interface PollLoopDeps {
  readonly temporal: WorkflowClient;
  readonly logger: Logger;
}

/** Claims work and hands it to Temporal. @returns whether Temporal responds, as far as is known. */
type Poll = () => Promise<boolean>;

/** A loop that runs until it is stopped. */
export interface PollLoop {
  /** Claims no more work; resolves when the poll in progress has handed over its work. */
  stop(): Promise<void>;
}

/**
 * Polls for work repeatedly, but only while Temporal responds. Work that a poll could not hand over is claimed again
 * once its lease has expired.
 */
export function startPollLoop(deps: PollLoopDeps, poll: Poll): PollLoop {
  const stopping = new AbortController();
  const running = runLoop(deps, poll, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function runLoop({ temporal, logger }: PollLoopDeps, poll: Poll, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let temporalAnswers = false;
  while (!signal.aborted) {
    try {
      if (!temporalAnswers) await temporal.ping();
      temporalAnswers = await poll();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      temporalAnswers = false;
      countCommandErrors('CLAIM');
      if (failures === 0) logger.warn({ err: error }, 'the relay of workflow commands is interrupted');
      await backOff(failures, signal);
      failures += 1;
    }
  }
}
