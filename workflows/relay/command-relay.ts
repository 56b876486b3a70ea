import type { Client } from '@connectrpc/connect';
import { SpanKind } from '@opentelemetry/api';
import type { Logger } from 'pino';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
  type WorkflowCommandService,
} from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { traceFor } from '../../services/platform/tracing/tracing.ts';
import { CLAIM_WAIT_MS, claimCall } from '../claim-wait.ts';
import { type PollLoop, startPollLoop } from '../poll-loop.ts';
import type { WorkflowClient } from '../temporal/workflow-client.ts';
import { executeCommand, type StartSettingsByType } from './execute-command.ts';
import { countCommandErrors } from './relay-metrics.ts';

export interface CommandRelayDeps {
  readonly commands: Client<typeof WorkflowCommandService>;
  readonly temporal: WorkflowClient;
  readonly startSettings: StartSettingsByType;
  readonly logger: Logger;
}

/** Few, so that a burst of a thousand commands leaves Temporal capacity for deliveries. */
const COMMANDS_PER_CLAIM = 10;

/** Forwards workflow commands from the outbox to Temporal until it is stopped. */
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
  /**
   * @returns whether Temporal has accepted all of them. A refused command and those after it are claimed again later.
   */
  const executeInOrder = async (sequence: readonly WorkflowCommand[]): Promise<boolean> => {
    for (const command of sequence) {
      try {
        await traceFor(command.requestId, tracedCommand(command), () =>
          executeCommand(temporal, startSettings, command),
        );
      } catch (error) {
        countCommandErrors('HAND_OVER');
        logger.error({ err: error, ...factsOf(command) }, 'Temporal did not accept a workflow command');
        return false;
      }
      executed.push(command.id);
    }
    return true;
  };
  // Commands to one workflow keep their order; a refused one does not delay other workflows.
  const sequences = [...Map.groupBy(commands, ({ workflowId }) => workflowId).values()];
  const accepted = await Promise.all(sequences.map(executeInOrder));
  if (executed.length > 0) await client.confirmCommands({ commandIds: executed });
  return accepted.length > 0 && accepted.every(Boolean);
}

const tracedCommand = ({ kind, workflowId, workflowType, merchantId }: WorkflowCommand) => ({
  name: `outbox ${WorkflowCommandKind[kind]} ${workflowType}`.trimEnd(),
  kind: SpanKind.CONSUMER,
  attributes: { 'temporal.workflow.id': workflowId, 'payments.merchant_id': merchantId },
});

/** The log fields of a command. */
const factsOf = (command: WorkflowCommand) => ({
  commandId: command.id,
  kind: WorkflowCommandKind[command.kind],
  workflowId: command.workflowId,
  workflowType: command.workflowType || undefined,
  requestId: command.requestId,
  merchantId: command.merchantId,
});
