import {
  type EntityManager,
  type EntityName,
  type FilterQuery,
  type FindOneOptions,
  type FindOptions,
  LockMode,
  type RequiredEntityData,
} from '@mikro-orm/postgresql';
import { insertCommand } from '../outbox/outbox-commands.ts';
import { insertEvents, type OutboxEvent, type PublishedEvent } from '../outbox/outbox-events.ts';
import type { OutboxWork } from '../outbox/outbox-signal.ts';
import type { WorkflowCommand } from '../outbox/workflow-command.ts';
import type { Origin } from '../rpc/call-context.ts';
import type { EnvironmentName, Tenant } from '../tenant.ts';
import { noteInTrace } from '../tracing/tracing.ts';
import { awaitAdvisoryLock, tryAdvisoryLock } from './advisory-lock.ts';
import { executeNamed, type NamedParameters } from './named-sql.ts';

/** Rows carry their tenant in their first two columns. */
export type TenantOwned = { merchantId: string; environment: EnvironmentName };

/** A log line about a change that a transaction has made: to which record, and its new state. */
export interface LoggedStep {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type RowSelection<E> = Pick<FindOptions<E>, 'orderBy' | 'limit' | 'offset' | 'lockMode'>;

/**
 * A transaction of one tenant: every statement that use cases make through it carries merchant and environment.
 * Events and commands that it adds to the outbox are delivered only if the transaction commits.
 */
export class TenantTransaction {
  readonly tenant: Tenant;
  /** The id of the request that causes this write; events and commands carry it. */
  readonly requestId: string;
  readonly #em: EntityManager;
  readonly #origin: Origin;
  #outboxWork: OutboxWork | undefined;
  readonly #steps: LoggedStep[] = [];

  /** @param origin who causes this write; recorded with workflows that it starts. */
  constructor(em: EntityManager, tenant: Tenant, requestId: string, origin: Origin = {}) {
    this.#em = em;
    this.tenant = tenant;
    this.requestId = requestId;
    this.#origin = origin;
  }

  /** The kind of work that the transaction has added to the outbox, if any. */
  get outboxWork(): OutboxWork | undefined {
    return this.#outboxWork;
  }

  /** The steps to log, in order. */
  get steps(): readonly LoggedStep[] {
    return this.#steps;
  }

  /**
   * Logs a line once the transaction has committed, with the merchant, the request and who caused it.
   * @param fields ids, states and amounts, but no text that people have written.
   */
  logStep(message: string, fields: LoggedStep['fields']): void {
    this.#steps.push({ message, fields });
  }

  /** The tenant's first matching row. */
  findOne<E extends TenantOwned>(
    entity: EntityName<E>,
    where: FilterQuery<NoInfer<E>>,
    options?: Pick<FindOneOptions<E>, 'lockMode' | 'refresh'>,
  ) {
    return this.#em.findOne<E>(entity, this.#within<E>(where), options);
  }

  /** The tenant's first matching row, locked until the transaction ends. */
  lockOne<E extends TenantOwned>(entity: EntityName<E>, where: FilterQuery<NoInfer<E>>) {
    return this.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  find<E extends TenantOwned>(
    entity: EntityName<E>,
    where: FilterQuery<NoInfer<E>>,
    options?: RowSelection<E>,
  ) {
    return this.#em.find<E>(entity, this.#within<E>(where), options);
  }

  /** The tenant's matching rows, locked until the transaction ends. Pass an order to avoid deadlocks. */
  lock<E extends TenantOwned>(
    entity: EntityName<E>,
    where: FilterQuery<NoInfer<E>>,
    options?: RowSelection<E>,
  ) {
    return this.find(entity, where, { ...options, lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** Lets every later statement of the transaction wait at most this long for a lock. Citus passes on only `set local`. */
  async limitLockWaits(timeoutMs: number): Promise<void> {
    await executeNamed(this.#em, `set local lock_timeout = ${timeoutMs}`);
  }

  /** Takes a lock of this tenant until the transaction ends, once another transaction that has it ends. */
  awaitNamedLock(name: string): Promise<void> {
    return awaitAdvisoryLock(this.#em, this.#lockName(name));
  }

  /** Takes a lock of this tenant until the transaction ends; false when another transaction has it. */
  tryNamedLock(name: string): Promise<boolean> {
    return tryAdvisoryLock(this.#em, this.#lockName(name));
  }

  /** A new row of this tenant, written when the transaction flushes. */
  create<E extends TenantOwned>(
    entity: EntityName<E>,
    data: Omit<RequiredEntityData<NoInfer<E>>, keyof TenantOwned>,
  ): E {
    return this.#em.create<E>(entity, { ...data, ...this.tenant } as RequiredEntityData<E>, {
      persist: true,
    });
  }

  /** Marks a row for deletion when the transaction flushes. */
  remove(row: TenantOwned): void {
    this.#em.remove(row);
  }

  /** Writes pending changes now, so that later statements see them. */
  flush(): Promise<void> {
    return this.#em.flush();
  }

  /**
   * Runs SQL that entities cannot express. It must filter by merchant_id and environment itself: `:merchantId` and
   * `:environment` are bound here, other names from the parameters.
   */
  execute<Row>(sql: string, parameters: NamedParameters = {}): Promise<Row[]> {
    if (!sql.includes(':environment')) {
      throw new TypeError('a tenant statement must use :merchantId and :environment');
    }
    return this.executeForMerchant(sql, parameters);
  }

  /** Like `execute`, for tables without an environment: the statement must use `:merchantId`. */
  executeForMerchant<Row>(sql: string, parameters: NamedParameters = {}): Promise<Row[]> {
    if (!sql.includes(':merchantId')) throw new TypeError('a statement of a merchant names :merchantId');
    return executeNamed(this.#em, sql, { ...parameters, ...this.tenant });
  }

  /** Publishes an event of the catalog with this transaction. */
  async publish(event: Omit<OutboxEvent, 'requestId'>): Promise<PublishedEvent> {
    const [published] = await this.publishAll([{ ...event, requestId: this.requestId }]);
    const { id } = published!;
    noteInTrace('event in the outbox', () => ({
      'payments.event_id': id,
      'payments.event_type': event.type,
    }));
    return published!;
  }

  /** Publishes events of the catalog with this transaction; those of one object keep their order. */
  async publishAll(events: readonly OutboxEvent[]): Promise<PublishedEvent[]> {
    if (events.length === 0) return [];
    this.#outboxWork ??= 'EVENTS';
    return insertEvents(this.#em, this.tenant, events);
  }

  /** Starts, signals or cancels a workflow with this transaction. */
  command(command: WorkflowCommand): Promise<void> {
    this.#outboxWork = 'COMMANDS';
    const { kind, workflowId } = command;
    noteInTrace('command in the outbox', () => ({
      'payments.command': kind,
      'temporal.workflow.id': workflowId,
    }));
    return insertCommand(this.#em, this.tenant, { requestId: this.requestId, origin: this.#origin }, command);
  }

  #lockName(name: string): string {
    const { merchantId, environment } = this.tenant;
    return `${name} ${merchantId} ${environment}`;
  }

  #within<E extends TenantOwned>(where: FilterQuery<E>): FilterQuery<E> {
    return { ...(where as object), ...this.tenant } as FilterQuery<E>;
  }
}
