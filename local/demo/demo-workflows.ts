import { createClient, type Transport } from '@connectrpc/connect';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
  WorkflowCommandService,
} from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import * as advancePayout from '../../services/contracts/advances/advance-payout.contract.ts';
import * as advanceRefusal from '../../services/contracts/advances/advance-refusal.contract.ts';
import * as advanceRequest from '../../services/contracts/advances/advance-request.contract.ts';
import * as refundExecution from '../../services/contracts/refunds/refund-execution.contract.ts';
import * as refundHold from '../../services/contracts/refunds/refund-hold.contract.ts';

/** The workflows whose steps the demo data takes itself. */
const COMPLETED: ReadonlySet<string> = new Set([
  refundExecution.workflowType,
  refundHold.workflowType,
  refundHold.endWorkflowType,
  advanceRequest.workflowType,
  advanceRefusal.workflowType,
  advancePayout.workflowType,
]);
const MAX_COMMANDS = 1_000;

/**
 * Ends the commands of workflows that have nothing left to do, and cancellations of workflows that have not started.
 * Otherwise the first start would run a thousand workflows that change nothing, and keep the machine busy for minutes.
 * Call it before any worker has started.
 */
export async function endCompletedWorkflows(transport: Transport): Promise<void> {
  const client = createClient(WorkflowCommandService, transport);
  for (;;) {
    const { commands } = await client.claimCommands({ waitMs: 0, maxCommands: MAX_COMMANDS });
    if (commands.length === 0) return;
    const starts = idsOf(commands.filter(({ workflowType }) => COMPLETED.has(workflowType)));
    const cancels = idsOf(commands.filter(({ kind }) => kind === WorkflowCommandKind.CANCEL));
    if (starts.length > 0) await client.endStarts({ commandIds: starts });
    if (cancels.length > 0) await client.confirmCommands({ commandIds: cancels });
  }
}

const idsOf = (commands: readonly WorkflowCommand[]) => commands.map(({ id }) => id);
