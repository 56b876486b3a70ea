import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { JsonObject } from '@bufbuild/protobuf';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
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

/** What a commit added to the outbox: only events, or also commands. */
export type OutboxWork = 'EVENTS' | 'COMMANDS';

export const OUTBOX_CHANNEL = 'payments_outbox';
const NOTIFY_INTERVAL_MS = 10;

/**
 * Signals that a commit added work to the outbox: immediately within this process, and to other processes by NOTIFY on a
 * separate connection, at most once per 10 ms. A lost notification delays work until the next poll, but never loses it.
 */
export class OutboxSignal {
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #database: Database;
  /** Identifies this process in notifications. */
  readonly #sender = randomUUID();
  #pending: OutboxWork | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Call this after the commit. */
  committed(work: OutboxWork): void {
    this.#emitter.emit('work', work);
    if (this.#pending === undefined) setTimeout(() => void this.#notify(), NOTIFY_INTERVAL_MS);
    if (this.#pending !== 'COMMANDS') this.#pending = work;
  }

  /** Parses a notification; undefined for those sent by this process, which has handled them already. */
  parseNotification(payload: string): OutboxWork | undefined {
    const [sender, work] = payload.split(' ');
    if (sender === this.#sender) return undefined;
    return work === 'EVENTS' ? 'EVENTS' : 'COMMANDS';
  }

  /** Calls the listener whenever this process commits to the outbox; returns a function that unsubscribes. */
  onWork(listener: (work: OutboxWork) => void): () => void {
    this.#emitter.on('work', listener);
    return () => this.#emitter.off('work', listener);
  }

  async #notify(): Promise<void> {
    const payload = `${this.#sender} ${this.#pending}`;
    this.#pending = undefined;
    try {
      const connection = await this.#database.connect();
      await connection.query(`notify ${OUTBOX_CHANNEL}, '${payload}'`).finally(() => connection.release());
    } catch {
      // The next poll finds the work.
    }
  }
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

const INSERT_COMMAND = `
insert into platform.outbox_command
  (merchant_id, environment, id, kind, workflow_id, workflow_type, signal_name, arguments, request_id)
`;

const INSERT_ONE_COMMAND = `${INSERT_COMMAND}
values (:merchantId, :environment, :id, :kind, :workflowId, :workflowType, :signalName, :arguments, :requestId)`;

/** Adds a workflow command to the outbox in the caller's transaction. */
export async function insertCommand(
  em: EntityManager,
  tenant: Tenant,
  requestId: string,
  command: WorkflowCommand,
): Promise<void> {
  const { kind, workflowId } = command;
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
