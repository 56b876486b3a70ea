import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Run, Statement } from '../database/cross-tenant-database.ts';
import { executeNamed } from '../database/named-sql.ts';
import type { Origin } from '../rpc/call-context.ts';
import type { EnvironmentName, Tenant } from '../tenant.ts';
import { COMMAND_LEASE_MS, type WorkflowCommand } from './workflow-command.ts';

const INSERT_COMMAND = `
insert into platform.outbox_command
  (merchant_id, environment, id, kind, workflow_id, workflow_type, signal_name, arguments, request_id`;

/**
 * A join to who started a workflow: `start.started_by` and `start.account_id`, null for one that no command started. The
 * parameters are SQL expressions.
 */
export const starterOf = (workflowId: string, merchantId: string, environment: string): string =>
  `left join lateral (
    select c.started_by, c.account_id from platform.outbox_command c
     where c.workflow_id = ${workflowId} and c.kind = 'START'
       and c.merchant_id = ${merchantId} and c.environment = ${environment}
     order by c.id desc limit 1
  ) start on true`;

/** Records who started a workflow. A workflow that another one starts has the same starter. */
const INSERT_ONE_COMMAND = `${INSERT_COMMAND}, started_by, account_id)
select :merchantId, :environment, :id, :kind, :workflowId, :workflowType, :signalName, :arguments, :requestId,
       coalesce(start.started_by, :caller), coalesce(start.account_id, :accountId)
  from (values (true)) as command
  ${starterOf(':causingWorkflowId', ':merchantId', ':environment')}`;

/** A canceled workflow must not be started again. */
const REMOVE_START = `
delete from platform.outbox_command
 where workflow_id = :workflowId and kind = 'START' and merchant_id = :merchantId and environment = :environment`;

/** The request that causes a command, and who makes it. */
interface CommandCause {
  readonly requestId: string;
  readonly origin: Origin;
}

/** Adds a workflow command to the outbox in the caller's transaction. A CANCEL also removes the workflow's START. */
export async function insertCommand(
  em: EntityManager,
  tenant: Tenant,
  { requestId, origin }: CommandCause,
  command: WorkflowCommand,
): Promise<void> {
  const { kind, workflowId } = command;
  if (kind === 'CANCEL') await executeNamed(em, REMOVE_START, { ...tenant, workflowId });
  await executeNamed(em, INSERT_ONE_COMMAND, {
    ...tenant,
    id: uuidv7(),
    kind,
    workflowId,
    workflowType: kind === 'START' ? command.workflowType : null,
    signalName: kind === 'SIGNAL' ? command.signalName : null,
    arguments: JSON.stringify(kind === 'CANCEL' ? [] : command.arguments),
    requestId,
    caller: origin.caller ?? null,
    accountId: origin.accountId ?? null,
    causingWorkflowId: origin.workflowId ?? null,
  });
}

/**
 * A statement, or a data-modifying part of one, that adds a workflow command for each row of a source.
 * @param command for the id '': its workflow id is the prefix to which each row's id is appended.
 * @param argumentsSql the arguments as a jsonb expression over the row; default: the command's own.
 * @param source a FROM clause whose rows have merchant_id, environment, id and request_id, with its WHERE.
 */
export function insertCommandsOf(
  command: WorkflowCommand,
  source: string,
  argumentsSql = `'${JSON.stringify(command.kind === 'CANCEL' ? [] : command.arguments)}'`,
): string {
  const workflowType = command.kind === 'START' ? `'${command.workflowType}'` : 'null';
  const signalName = command.kind === 'SIGNAL' ? `'${command.signalName}'` : 'null';
  return `${INSERT_COMMAND}) select merchant_id, environment, uuidv7(), '${command.kind}',
       '${command.workflowId}' || id, ${workflowType}, ${signalName}, ${argumentsSql}, request_id
  from ${source}`;
}

/** A stored workflow command, to be executed in Temporal. */
export interface ClaimedCommand {
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

const CLAIM: Statement = {
  name: 'claim_commands',
  text: `
with leased as (
  update platform.outbox_command c
     set due_at = now() + interval '${COMMAND_LEASE_MS} ms'
    from (select id from platform.outbox_command
           where due_at <= now()
           order by due_at, id limit :limit for update skip locked) next
   where c.id = next.id
  returning c.*
)
select id, merchant_id, environment, kind, workflow_id, workflow_type, signal_name,
       arguments::text as arguments, request_id
  from leased order by id`,
};

/** Leases commands for 30 s, the longest due first, and returns them in order of creation. */
export const claimCommands = (run: Run, limit: number) => run<ClaimedCommand>(CLAIM, { limit });

/** A START is sent again after a minute, doubling each time up to an hour. */
const CONFIRM: Statement = {
  name: 'confirm_commands',
  text: `
with started as (
  update platform.outbox_command
     set starts = starts + 1,
         due_at = now() + least(interval '1 minute' * 2 ^ least(starts, 6), interval '1 hour')
   where id = any (:ids::uuid[]) and kind = 'START'
)
delete from platform.outbox_command where id = any (:ids::uuid[]) and kind <> 'START'`,
};

/** Deletes commands that have been executed, except each START: its workflow ends it. */
export async function confirmCommands(run: Run, ids: readonly string[]): Promise<void> {
  await run(CONFIRM, { ids });
}

const END_STARTS: Statement = {
  name: 'end_starts',
  text: `delete from platform.outbox_command where id = any (:ids::uuid[]) and kind = 'START'`,
};

/** Deletes the START commands of a workflow that has completed its work. */
export async function endStarts(run: Run, ids: readonly string[]): Promise<void> {
  await run(END_STARTS, { ids });
}

/**
 * Spreads them, so that Temporal does not get all starts at once. Resets their count to one start, so that a relay
 * which confirms an earlier start after this delays the next one by two minutes instead of an hour.
 */
const RESEND_STARTS: Statement = {
  name: 'resend_starts',
  text: `
update platform.outbox_command set due_at = least(due_at, now() + interval '30 s' * random()), starts = 1
 where kind = 'START' and starts > 0`,
};

/** Makes every START due within half a minute. */
export async function resendStarts(run: Run): Promise<void> {
  await run(RESEND_STARTS, {});
}
