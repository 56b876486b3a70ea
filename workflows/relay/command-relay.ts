import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type {
  WorkflowCommand,
  WorkflowCommandService,
} from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { CLAIM_WAIT_MS, claimCall } from '../claim-wait.ts';
import { type PollLoop, startPollLoop } from '../poll-loop.ts';
import { settleHandover } from '../settle-handover.ts';
import type { WorkflowClient } from '../temporal/workflow-client.ts';
import { executeCommand, type StartSettingsByType } from './execute-command.ts';

export interface CommandRelayDeps {
  readonly commands: Client<typeof WorkflowCommandService>;
  readonly temporal: WorkflowClient;
  readonly startSettings: StartSettingsByType;
  readonly logger: Logger;
}

/** Few, so that a burst of a thousand commands leaves Temporal capacity for deliveries. */
const COMMANDS_PER_CLAIM = 10;

/** Brings workflow commands from the outbox to Temporal until it is stopped. */
export function startCommandRelay(deps: CommandRelayDeps): PollLoop {
  return startPollLoop(deps, () => relayCommands(deps));
}

/** Claims workflow commands, executes them and confirms them. @returns whether there were any, all executed. */
async function relayCommands(deps: CommandRelayDeps): Promise<boolean> {
  const { commands: client, temporal, startSettings, logger } = deps;
  const { commands } = await client.claimCommands(
    { waitMs: CLAIM_WAIT_MS, maxCommands: COMMANDS_PER_CLAIM },
    claimCall(CLAIM_WAIT_MS),
  );
  const executed: string[] = [];
  const executeInOrder = async (sequence: readonly WorkflowCommand[]) => {
    for (const command of sequence) {
      await executeCommand(temporal, startSettings, command);
      executed.push(command.id);
    }
  };
  // Commands to one workflow keep their order.
  const sequences = [...Map.groupBy(commands, ({ workflowId }) => workflowId).values()];
  const handedOver = await settleHandover(logger, sequences.map(executeInOrder));
  if (executed.length > 0) await client.confirmCommands({ commandIds: executed });
  return handedOver;
}
