import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { executeNamed } from '../database/named-sql.ts';
import type { Origin } from '../rpc/call-context.ts';
import type { Tenant } from '../tenant.ts';
import type { WorkflowCommand } from './workflow-command.ts';

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
const INSERT_ONE_COMMAND = `${INSERT_COMMAND}, started_by, account_id, due_at)
select :merchantId, :environment, :id, :kind, :workflowId, :workflowType, :signalName, :arguments, :requestId,
       coalesce(start.started_by, :caller), coalesce(start.account_id, :accountId),
       least(clock_timestamp(), :dueAt::timestamptz)
  from (values (true)) as command
  ${starterOf(':causingWorkflowId', ':merchantId', ':environment')}`;

interface RemovedStart {
  readonly created_ms: number;
  /** As PostgreSQL writes it. */
  readonly due_at: string;
  readonly starts: number;
}

/** A canceled workflow must not be started again. */
const REMOVE_START = `
delete from platform.outbox_command
 where workflow_id = :workflowId and kind = 'START' and merchant_id = :merchantId and environment = :environment
returning (extract(epoch from uuid_extract_timestamp(id)) * 1000)::float8 as created_ms, due_at::text, starts`;

/** The request that causes a command, and who makes it. */
interface CommandCause {
  readonly requestId: string;
  readonly origin: Origin;
}

/**
 * Adds a workflow command to the outbox in the caller's transaction. A CANCEL also removes the workflow's START. A START that
 * replaces an earlier one keeps its turn, so that it does not wait forever behind other commands. If that one has not been
 * sent yet, it also keeps the time in its id, so that the alert on commands that wait sees it.
 */
export async function insertCommand(
  em: EntityManager,
  tenant: Tenant,
  { requestId, origin }: CommandCause,
  command: WorkflowCommand,
): Promise<void> {
  const { kind, workflowId } = command;
  const removesStart = kind === 'CANCEL' || (kind === 'START' && command.replacesEarlier);
  const [removed] = removesStart
    ? await executeNamed<RemovedStart>(em, REMOVE_START, { ...tenant, workflowId })
    : [];
  const replaced = kind === 'START' ? removed : undefined;
  await executeNamed(em, INSERT_ONE_COMMAND, {
    ...tenant,
    id: replaced?.starts === 0 ? uuidv7({ msecs: replaced.created_ms }) : uuidv7(),
    kind,
    workflowId,
    workflowType: kind === 'START' ? command.workflowType : null,
    signalName: kind === 'SIGNAL' ? command.signalName : null,
    arguments: JSON.stringify(kind === 'CANCEL' ? [] : command.arguments),
    requestId,
    caller: origin.caller ?? null,
    accountId: origin.accountId ?? null,
    causingWorkflowId: origin.workflowId ?? null,
    dueAt: replaced?.due_at ?? null,
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
