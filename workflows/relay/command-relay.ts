import type { Client } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { DispatchService, WorkflowCommand } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { CLAIM_WAIT_MS, claimCall } from '../claim-wait.ts';
import { settleHandover } from '../settle-handover.ts';
import type { WorkflowStarter } from './workflow-starter.ts';

export interface CommandLaneDeps {
  readonly dispatch: Client<typeof DispatchService>;
  readonly temporal: WorkflowStarter;
  readonly logger: Logger;
}

/** Few, so that a thousand commands that came at once leave Temporal room for deliveries. */
const COMMANDS_AT_ONCE = 10;

/** Claims workflow commands, carries them out and confirms them. @returns whether Temporal took all, of some. */
export async function dispatchCommands(
  { dispatch, temporal, logger }: CommandLaneDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const { commands } = await dispatch.claimCommands(
    { waitMs: CLAIM_WAIT_MS, maxCommands: COMMANDS_AT_ONCE },
    claimCall(CLAIM_WAIT_MS, signal),
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
  const taken = await settleHandover(logger, sequences.map(inOrder));
  if (carriedOut.length > 0) await dispatch.confirmCommands({ commandIds: carriedOut });
  return taken;
}
