import type { JsonObject } from '@bufbuild/protobuf';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Statement } from '../database/cross-tenant-database.ts';
import { executeNamed } from '../database/named-sql.ts';
import type { Tenant } from '../tenant.ts';
import type { WorkflowCommand } from './workflow-command.ts';

/** An event of the catalogue, delivered after the transaction that publishes it commits. */
export interface OutboxEvent {
  /** An event type of the catalogue, such as `refund.requested.v1`. */
  readonly type: string;
  /** The object that the event is about; its events are numbered from 1 without gaps. */
  readonly objectId: string;
  readonly data: JsonObject;
  /** Id of the request that caused the event. */
  readonly requestId: string;
  readonly occurredAt: Date;
}

const INSERT_EVENT = `
with numbered as (
  insert into platform.object_sequence as s (merchant_id, environment, object_id, last_sequence)
  values (:merchantId, :environment, :objectId, 1)
  on conflict (merchant_id, environment, object_id) do update set last_sequence = s.last_sequence + 1
  returning last_sequence
)
insert into platform.outbox_event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, data)
select :merchantId, :environment, :id, :type, :objectId, last_sequence, :requestId, :occurredAt, :data from numbered
returning sequence`;

/** Adds an event to the outbox in the caller's transaction; returns its id and its sequence number for the object. */
export async function insertEvent(em: EntityManager, tenant: Tenant, event: OutboxEvent) {
  const id = uuidv7();
  const [row] = await executeNamed<{ sequence: string | number | bigint }>(em, INSERT_EVENT, {
    ...tenant,
    ...event,
    id,
    data: JSON.stringify(event.data),
  });
  return { id, sequence: BigInt(row!.sequence) };
}

/** Inserts events of any tenants, as rows with the columns' names. Those of one object are numbered in the order of their ids. */
export const INSERT_EVENTS: Statement = {
  name: 'insert_events',
  text: `
with asked as (
  select * from json_to_recordset(:rows::json) as a (
    merchant_id uuid, environment text, id uuid, type text, object_id text, request_id text,
    occurred_at timestamptz, data json)
), numbered as (
  insert into platform.object_sequence as s (merchant_id, environment, object_id, last_sequence)
  select merchant_id, environment, object_id, count(*) from asked
   group by merchant_id, environment, object_id order by merchant_id, environment, object_id
  on conflict (merchant_id, environment, object_id)
  do update set last_sequence = s.last_sequence + excluded.last_sequence
  returning merchant_id, environment, object_id, last_sequence
)
insert into platform.outbox_event
  (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, data)
select a.merchant_id, a.environment, a.id, a.type, a.object_id,
       n.last_sequence + 1
         - row_number() over (partition by a.merchant_id, a.environment, a.object_id order by a.id desc),
       a.request_id, a.occurred_at, a.data
  from asked a
  join numbered n
    on n.merchant_id = a.merchant_id and n.environment = a.environment and n.object_id = a.object_id
returning id, sequence`,
};

/** An event as a row for {@link INSERT_EVENTS}. */
export const outboxEventRow = ({ merchantId, environment }: Tenant, id: string, event: OutboxEvent) => ({
  merchant_id: merchantId,
  environment,
  id,
  type: event.type,
  object_id: event.objectId,
  request_id: event.requestId,
  occurred_at: event.occurredAt,
  data: event.data,
});

/** Adds events to the outbox in the caller's transaction with one statement; those of an object keep their order. */
export async function insertEvents(
  em: EntityManager,
  tenant: Tenant,
  events: readonly OutboxEvent[],
): Promise<void> {
  const rows = events.map((event) => outboxEventRow(tenant, uuidv7(), event));
  await executeNamed(em, INSERT_EVENTS.text, { rows: JSON.stringify(rows) });
}

const INSERT_COMMAND = `
insert into platform.outbox_command
  (merchant_id, environment, id, kind, workflow_id, workflow_type, signal_name, arguments, request_id)
`;

const INSERT_ONE_COMMAND = `${INSERT_COMMAND}
values (:merchantId, :environment, :id, :kind, :workflowId, :workflowType, :signalName, :arguments, :requestId)`;

/** What a canceled workflow has not done yet is no longer needed. */
const REMOVE_START = `
delete from platform.outbox_command
 where workflow_id = :workflowId and kind = 'START' and merchant_id = :merchantId and environment = :environment`;

/** Adds a workflow command to the outbox in the caller's transaction. A CANCEL also removes the workflow's START. */
export async function insertCommand(
  em: EntityManager,
  tenant: Tenant,
  requestId: string,
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
  return `${INSERT_COMMAND} select merchant_id, environment, uuidv7(), '${command.kind}',
       '${command.workflowId}' || id, ${workflowType}, ${signalName}, ${argumentsSql}, request_id
  from ${source}`;
}
