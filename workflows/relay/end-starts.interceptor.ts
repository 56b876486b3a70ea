import {
  proxyActivities,
  type SignalInput,
  type WorkflowExecuteInput,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import { STARTED_AGAIN_SIGNAL, startingCommand } from '../temporal/outbox-start.ts';
import type { CommandActivities } from './command.activities.ts';

const { endStarts } = proxyActivities<CommandActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** The limit of one EndStarts request. */
const MAX_COMMANDS = 1_000;

/**
 * Ends the START commands of a workflow once it has completed. A workflow that fails, is canceled or terminated, or
 * continues as a new run leaves them, so that it is started again.
 */
class EndStarts implements WorkflowInboundCallsInterceptor {
  readonly #commandIds = new Set<string>();

  /** A START that is sent while the workflow runs arrives as a signal. */
  async handleSignal(input: SignalInput, next: (input: SignalInput) => Promise<void>): Promise<void> {
    const [commandId] = input.args;
    if (input.signalName === STARTED_AGAIN_SIGNAL && typeof commandId === 'string') {
      this.#commandIds.add(commandId);
    }
    await next(input);
  }

  async execute(
    input: WorkflowExecuteInput,
    next: (input: WorkflowExecuteInput) => Promise<unknown>,
  ): Promise<unknown> {
    const first = startingCommand(workflowInfo().memo);
    if (first !== undefined) this.#commandIds.add(first);
    const result = await next(input);
    // Read before anything else happens, because commands that arrive from now on are not covered by this run.
    const ended = [...this.#commandIds].slice(0, MAX_COMMANDS);
    if (ended.length > 0) await endStarts(ended);
    return result;
  }
}

/** Called by the SDK for each workflow. */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [new EndStarts()] });
