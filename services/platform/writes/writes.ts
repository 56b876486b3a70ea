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
import type { Database } from '../database/database.ts';
import { TenantTransaction } from '../database/tenant-transaction.ts';
import type { OutboxSignal, OutboxWork } from '../outbox/outbox-signal.ts';
import { REPLAYED_HEADER, requestIdOf } from '../rpc/call-context.ts';
import { type Tenant, tenantOf } from '../tenant.ts';
import { recordAudit } from './audit.ts';
import {
  callSha256,
  claimKey,
  findResponse,
  idempotencyScope,
  recordResponse,
  type WriteRequest,
} from './idempotency-records.ts';

/**
 * Runs write RPCs: idempotency, the work, its outbox rows and its audit entry in one transaction. For 24 hours the same key
 * with the same request replays the response. With a different request it fails with ALREADY_EXISTS
 * (IDEMPOTENCY_KEY_REUSED), while the first is running with ABORTED (IDEMPOTENCY_KEY_IN_USE). Keys are scoped to caller and
 * RPC. A write whose caller has stopped waiting is rolled back.
 */
export class Writes {
  readonly #database: Database;
  readonly #signal: OutboxSignal;

  constructor(database: Database, signal: OutboxSignal) {
    this.#database = database;
    this.#signal = signal;
  }

  /**
   * Runs the work once per key. `remember` maps the response to the one that replays return, if different: secrets are
   * never stored.
   */
  async run<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
    remember: (answer: MessageShape<Output>) => MessageShape<Output> = (answer) => answer,
  ): Promise<MessageShape<Output>> {
    const scope = idempotencyScope(request, context);
    const schema = context.method.output as Output;
    return this.transaction(tenantOf(request), requestIdOf(context), async (tx, em) => {
      const recorded = await claimKey(em, scope);
      if (recorded) {
        context.responseHeader.set(REPLAYED_HEADER, 'true');
        return fromBinary(schema, recorded);
      }
      requireCaller(context);
      const answer = create(schema, await work(tx));
      await tx.flush();
      await recordResponse(em, scope, toBinary(schema, remember(answer)));
      await recordAudit(em, scope, request, context, () => callSha256(scope));
      requireCaller(context);
      return answer;
    });
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
    const recorded = await this.#database.transaction((em) => findResponse(em, scope));
    if (!recorded) return undefined;
    context.responseHeader.set(REPLAYED_HEADER, 'true');
    return fromBinary(context.method.output as Output, recorded);
  }

  /**
   * Runs a transaction of a write before the one in `run`; it must be idempotent and lock what it changes. It records the
   * call's audit entry, because the call may fail before `run`, which then does not record another.
   */
  begin<T>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const scope = idempotencyScope(request, context);
    return this.transaction(tenantOf(request), requestIdOf(context), async (tx, em) => {
      const answer = await work(tx);
      await recordAudit(em, scope, request, context, () => callSha256(scope));
      return answer;
    });
  }

  /** Runs one transaction of a tenant without an idempotency key, for work that is idempotent by itself. */
  async transaction<T>(
    tenant: Tenant,
    requestId: string,
    work: (tx: TenantTransaction, em: EntityManager) => Promise<T>,
  ): Promise<T> {
    let outboxWork: OutboxWork | undefined;
    const result = await this.#database.transaction(async (em) => {
      const tx = new TenantTransaction(em, tenant, requestId);
      const answer = await work(tx, em);
      outboxWork = tx.outboxWork;
      return answer;
    });
    if (outboxWork) this.#signal.committed(outboxWork);
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
