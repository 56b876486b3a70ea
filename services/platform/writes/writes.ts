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
import type { OutboxSignal, OutboxWork } from '../outbox/outbox.ts';
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
 * How every write RPC runs: idempotency, the work, its outbox rows and its audit entry in one transaction. The same key
 * with the same request answers as the first time (24 hours), with another one ALREADY_EXISTS (IDEMPOTENCY_KEY_REUSED),
 * while the first is running ABORTED (IDEMPOTENCY_KEY_IN_USE). Keys of different callers and RPCs never meet. A write
 * whose caller has stopped waiting is rolled back.
 */
export class Writes {
  readonly #database: Database;
  readonly #signal: OutboxSignal;

  constructor(database: Database, signal: OutboxSignal) {
    this.#database = database;
    this.#signal = signal;
  }

  /**
   * Runs the work once per key. `remember` turns the answer into what a replay is to answer, where that differs: a
   * secret is never stored.
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
   * The answer that a key has already been given, without the work and its lock; undefined when there is none yet.
   * For writes that do something slow (a look-up outside) before their transaction. ALREADY_EXISTS as in `run`.
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
   * A transaction of a write before the one in `run`, idempotent by itself and under a lock of what it changes. It
   * commits with the call's audit entry, since the call may not get as far as `run`, which then leaves no other.
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

  /** One transaction of a tenant without an idempotency key, for what is idempotent by itself. */
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
 * Refuses to do or to commit what nobody waits for any more: a caller whose deadline has passed may try again and
 * decide by that answer, and a write that comes after it would be met by surprise.
 */
function requireCaller({ signal }: HandlerContext): void {
  if (signal.aborted) throw ConnectError.from(signal.reason, Code.Canceled);
}
