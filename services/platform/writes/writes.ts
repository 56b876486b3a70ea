import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { awaitAdvisoryLock } from '../database/advisory-lock.ts';
import type { Database } from '../database/database.ts';
import { type LoggedStep, TenantTransaction } from '../database/tenant-transaction.ts';
import { databaseUnavailable } from '../errors.ts';
import type { OutboxSignal, OutboxWork } from '../outbox/outbox-signal.ts';
import type { PersonCheck } from '../people/person-check.ts';
import { actorOf, originOf, REPLAYED_HEADER, requestIdOf } from '../rpc/call-context.ts';
import { ENVIRONMENTS, type EnvironmentName, type Tenant, tenantOf } from '../tenant.ts';
import { auditRow, recordAudit, recordAuditOnce } from './audit.ts';
import {
  callSha256,
  claimKey,
  findResponse,
  type IdempotencyScope,
  idempotencyScope,
  recordResponse,
  type WriteRequest,
} from './idempotency-records.ts';
import { TurnQueue } from './turn-queue.ts';

/**
 * Limits the writes of one merchant to these shares of the connections, so that others have the rest while those wait for a
 * locked row. The sandbox has its own share: what a developer tries there must not delay the merchant's live writes.
 */
const MERCHANT_SHARES = { live: 0.5, test: 0.25 };
/** The same time for which a transaction waits for a free connection. */
const MAX_WAIT_MS = 5_000;

/**
 * The call that makes a write. Without a signal for work in the background, which serves all merchants with one transaction at a
 * time: it must not wait for the calls of one of them.
 */
type WriteContext = Pick<HandlerContext, 'values'> & Partial<Pick<HandlerContext, 'signal'>>;

/** Options of a write, where it differs from the default. */
interface WriteOptions<Output extends DescMessage> {
  /** Maps the response to the one that replays return: secrets are never stored. */
  readonly remember?: (answer: MessageShape<Output>) => MessageShape<Output>;
  /** The scope of its key. Default: {@link idempotencyScope}. */
  readonly scope?: IdempotencyScope;
  /** The request as the audit trail keeps it. Default: the whole request. */
  readonly audited?: WriteRequest;
}

/** What to do once per key. */
interface Run<Output extends DescMessage> extends WriteOptions<Output> {
  readonly work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>;
  /** The environments whose audit trails record the write. */
  readonly trails: readonly EnvironmentName[];
  /** A lock that its transaction takes before any other. */
  readonly lockName?: string;
  /** Whether an earlier transaction of the call has recorded its audit entry. Default: false. */
  readonly hasBegun?: boolean;
}

/**
 * Runs write RPCs: idempotency, the work, its outbox rows and its audit entry in one transaction. For 24 hours the
 * same key with the same request replays the response. With a different request it fails with ALREADY_EXISTS
 * (IDEMPOTENCY_KEY_REUSED), while the first is running with ABORTED (IDEMPOTENCY_KEY_IN_USE). Keys are scoped to
 * caller and RPC. A write is rolled back if its caller has stopped waiting, or if its person may no longer make it.
 */
export class Writes {
  readonly #database: Database;
  readonly #signal: OutboxSignal;
  readonly #people: PersonCheck;
  readonly #logger: Logger;
  readonly #queues: Readonly<Record<EnvironmentName, TurnQueue>>;

  /** @param logger for the steps that transactions log once they have committed. */
  constructor(database: Database, signal: OutboxSignal, people: PersonCheck, logger: Logger) {
    this.#database = database;
    this.#signal = signal;
    this.#people = people;
    this.#logger = logger;
    const queue = (share: number) =>
      new TurnQueue({
        atOnce: Math.ceil(database.poolSize * share),
        maxWaitMs: MAX_WAIT_MS,
        onTimeout: databaseUnavailable,
      });
    this.#queues = { live: queue(MERCHANT_SHARES.live), test: queue(MERCHANT_SHARES.test) };
  }

  /** Runs the work once per key. */
  run<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
    options: WriteOptions<Output> = {},
  ): Promise<MessageShape<Output>> {
    return this.#run(request, context, { ...options, work, trails: [tenantOf(request).environment] });
  }

  /**
   * Like `run`, for data that both environments share, such as members: one at a time for each merchant. Adds the entry to
   * both audit trails.
   */
  runForMerchant<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
  ): Promise<MessageShape<Output>> {
    const lockName = `accounts.member ${tenantOf(request).merchantId}`;
    return this.#run(request, context, { work, trails: ENVIRONMENTS, lockName });
  }

  #run<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    {
      work,
      remember,
      trails,
      lockName,
      hasBegun,
      audited = request,
      scope = idempotencyScope(request, context),
    }: Run<Output>,
  ): Promise<MessageShape<Output>> {
    const schema = context.method.output as Output;
    const write = async (tx: TenantTransaction, em: EntityManager) => {
      const recorded = await claimKey(em, scope);
      if (recorded) {
        context.responseHeader.set(REPLAYED_HEADER, 'true');
        return fromBinary(schema, recorded);
      }
      requireCaller(context);
      const answer = create(schema, await work(tx));
      await tx.flush();
      await recordResponse(em, scope, toBinary(schema, remember?.(answer) ?? answer));
      if (hasBegun) {
        await recordAuditOnce(em, auditRow(scope, audited, context, callSha256(scope)));
      } else {
        const { merchantId } = scope;
        const rows = trails.map((environment) => auditRow({ merchantId, environment }, audited, context));
        await recordAudit(em, rows);
      }
      requireCaller(context);
      return answer;
    };
    return this.transaction(tenantOf(request), context, write, lockName);
  }

  /**
   * The recorded response of a key, without the work and without locking; undefined when there is none yet. For writes
   * that do something slow, such as a DNS lookup, before their transaction. ALREADY_EXISTS as in `run`.
   */
  async findReplay<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
  ): Promise<MessageShape<Output> | undefined> {
    const scope = idempotencyScope(request, context);
    const recorded = await this.transaction(tenantOf(request), context, (_tx, em) => findResponse(em, scope));
    if (!recorded) return undefined;
    context.responseHeader.set(REPLAYED_HEADER, 'true');
    return fromBinary(context.method.output as Output, recorded);
  }

  /**
   * Runs a transaction of a write before the one in `finish`; it must be idempotent and lock what it changes. It records the
   * call's audit entry, because the call may fail before `finish`, which then does not record another.
   */
  begin<T>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const scope = idempotencyScope(request, context);
    return this.transaction(tenantOf(request), context, async (tx, em) => {
      const answer = await work(tx);
      await recordAuditOnce(em, auditRow(scope, request, context, callSha256(scope)));
      return answer;
    });
  }

  /** Like `run`, for the last transaction of a call that `begin` has begun. */
  finish<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
  ): Promise<MessageShape<Output>> {
    return this.#run(request, context, { work, trails: [], hasBegun: true });
  }

  /**
   * Checks the person who makes a call, if any, before its work: for streams, whose first message names the merchant.
   * Errors as for `PersonCheck.lock`.
   */
  async checkPerson(tenant: Tenant, context: Pick<HandlerContext, 'values'>): Promise<void> {
    const actor = actorOf(context);
    if (actor) await this.#database.transaction((em) => this.#people.lock(em, actor, tenant));
  }

  /**
   * Runs one transaction of a tenant without an idempotency key, for work that is idempotent by itself. If a person makes
   * the call, it locks their session and membership first. UNAVAILABLE (DATABASE_UNAVAILABLE) when as many transactions of
   * the tenant as may run at once take too long.
   * @param lockName a lock to take before all others. Work that changes memberships needs one: its person's own is locked, too,
   *   and two persons who change each other's would wait for each other.
   */
  transaction<T>(
    tenant: Tenant,
    context: WriteContext,
    work: (tx: TenantTransaction, em: EntityManager) => Promise<T>,
    lockName?: string,
  ): Promise<T> {
    const transaction = () => this.#transaction(tenant, context, work, lockName);
    if (!context.signal) return transaction();
    return this.#queues[tenant.environment].run(tenant.merchantId, context.signal, transaction);
  }

  async #transaction<T>(
    tenant: Tenant,
    context: WriteContext,
    work: (tx: TenantTransaction, em: EntityManager) => Promise<T>,
    lockName: string | undefined,
  ): Promise<T> {
    let outboxWork: OutboxWork | undefined;
    let steps: readonly LoggedStep[] = [];
    const actor = actorOf(context);
    const result = await this.#database.transaction(async (em) => {
      if (lockName !== undefined) await awaitAdvisoryLock(em, lockName);
      if (actor) await this.#people.lock(em, actor, tenant);
      const tx = new TenantTransaction(em, tenant, requestIdOf(context), originOf(context));
      const answer = await work(tx, em);
      outboxWork = tx.outboxWork;
      steps = tx.steps;
      return answer;
    });
    if (outboxWork) this.#signal.committed(outboxWork);
    for (const { message, fields } of steps) {
      const cause = { ...tenant, requestId: requestIdOf(context), ...originOf(context) };
      this.#logger.info({ ...fields, ...cause }, message);
    }
    return result;
  }
}

/**
 * Fails when the caller has stopped waiting: it may already have retried and acted on that response, so a late commit would
 * surprise it.
 */
function requireCaller({ signal }: HandlerContext): void {
  if (signal.aborted) throw ConnectError.from(signal.reason, Code.Canceled);
}
