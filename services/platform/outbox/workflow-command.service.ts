import type { ServiceImpl } from '@connectrpc/connect';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
  type WorkflowCommandService,
} from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import type { CrossTenantDatabase } from '../database/cross-tenant-database.ts';
import { environmentEnum } from '../tenant.ts';
import { registerCommandMetrics } from './command-metrics.ts';
import {
  type ClaimedCommand,
  claimCommands,
  confirmCommands,
  endStarts,
  resendStarts,
} from './outbox-commands.ts';
import type { OutboxSignal } from './outbox-signal.ts';

const POLL_MS = 1_000;

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly outboxSignal: OutboxSignal;
  /** Aborted when the services begin to close: claims that wait for work end then. */
  readonly stopping: AbortSignal;
}

/** Serves the workflow commands of all areas to the Temporal worker. */
export function workflowCommandService({
  db,
  outboxSignal,
  stopping,
}: Dependencies): ServiceImpl<typeof WorkflowCommandService> {
  registerCommandMetrics(db);
  return {
    claimCommands: async ({ waitMs, maxCommands }, context) => {
      const signal = AbortSignal.any([context.signal, stopping]);
      const claimed = await outboxSignal.await({ work: 'COMMANDS', waitMs, signal }, async () => {
        const rows = await claimCommands(db.run, maxCommands);
        return { found: rows.length > 0 ? rows : undefined, pollMs: POLL_MS };
      });
      return { commands: (claimed ?? []).map(commandMessage) };
    },
    confirmCommands: async ({ commandIds }) => {
      await confirmCommands(db.run, commandIds);
      return {};
    },
    endStarts: async ({ commandIds }) => {
      await endStarts(db.run, commandIds);
      return {};
    },
    resendStarts: async () => {
      await resendStarts(db.run);
      return {};
    },
  };
}

function commandMessage(row: ClaimedCommand): WorkflowCommand {
  return {
    $typeName: 'payments.outbox.v1.WorkflowCommand',
    id: row.id,
    kind: WorkflowCommandKind[row.kind],
    workflowId: row.workflow_id,
    workflowType: row.workflow_type ?? '',
    signalName: row.signal_name ?? '',
    argumentsJson: row.arguments,
    merchantId: row.merchant_id,
    environment: environmentEnum(row.environment),
    requestId: row.request_id,
  };
}
