import type { ServiceImpl } from '@connectrpc/connect';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
  type WorkflowCommandService,
} from '../../../proto/gen/payments/outbox/v1/outbox_pb.js';
import type { CrossTenantDatabase, Statement } from '../database/cross-tenant-database.ts';
import { type EnvironmentName, environmentEnum } from '../tenant.ts';
import { registerCommandMetrics } from './command-metrics.ts';
import type { OutboxSignal } from './outbox-signal.ts';
import { COMMAND_LEASE_MS } from './workflow-command.ts';

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
        const rows = await db.run<ClaimedCommand>(CLAIM, { limit: maxCommands });
        return { found: rows.length > 0 ? rows : undefined, pollMs: POLL_MS };
      });
      return { commands: (claimed ?? []).map(commandMessage) };
    },
    confirmCommands: async ({ commandIds }) => {
      await db.run(CONFIRM, { ids: commandIds });
      return {};
    },
    endStarts: async ({ commandIds }) => {
      await db.run(END_STARTS, { ids: commandIds });
      return {};
    },
    resendStarts: async () => {
      await db.run(RESEND_STARTS);
      return {};
    },
  };
}

/** A stored workflow command, to be executed in Temporal. */
interface ClaimedCommand {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly kind: 'START' | 'SIGNAL' | 'CANCEL';
  readonly workflow_id: string;
  readonly workflow_type: string | null;
  readonly signal_name: string | null;
  readonly arguments: string;
  readonly request_id: string;
}

/**
 * Leases commands for 30 s, the longest due first, and returns them in order of creation. Their times are stored in
 * milliseconds: rounded up, one that is due now would wait for the next poll.
 */
const CLAIM: Statement = {
  name: 'claim_commands',
  text: `
with leased as (
  update platform.outbox_command c
     set due_at = now() + interval '${COMMAND_LEASE_MS} ms'
    from (select id from platform.outbox_command
           where due_at < now() + interval '1 ms'
           order by due_at, id limit :limit for update skip locked) next
   where c.id = next.id
  returning c.*
)
select id, merchant_id, environment, kind, workflow_id, workflow_type, signal_name,
       arguments::text as arguments, request_id
  from leased order by id`,
};

/**
 * Deletes commands that have been executed, except each START: its workflow ends it. Until then it is sent again after a
 * minute, doubling each time up to an hour. Leaves out a START that another transaction has locked to remove or replace it:
 * the process of that transaction may be paused, which would delay the commands of all others.
 */
const CONFIRM: Statement = {
  name: 'confirm_commands',
  text: `
with unlocked as (
  select id from platform.outbox_command where id = any (:ids::uuid[]) and kind = 'START' for update skip locked
), started as (
  update platform.outbox_command c
     set starts = c.starts + 1,
         due_at = now() + least(interval '1 minute' * 2 ^ least(c.starts, 6), interval '1 hour')
    from unlocked where c.id = unlocked.id
)
delete from platform.outbox_command where id = any (:ids::uuid[]) and kind <> 'START'`,
};

/** Deletes the START commands of a workflow that has completed its work. */
const END_STARTS: Statement = {
  name: 'end_starts',
  text: `delete from platform.outbox_command where id = any (:ids::uuid[]) and kind = 'START'`,
};

/**
 * Makes every START due within half a minute. Spreads them, so that Temporal does not get all starts at once. Resets their
 * count to one start, so that a relay which confirms an earlier start after this delays the next one by two minutes instead of
 * an hour.
 */
const RESEND_STARTS: Statement = {
  name: 'resend_starts',
  text: `
update platform.outbox_command set due_at = least(due_at, now() + interval '30 s' * random()), starts = 1
 where kind = 'START' and starts > 0`,
};

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
