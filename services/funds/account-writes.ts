import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../platform/database/database.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { aborted, databaseUnavailable } from '../platform/errors.ts';
import { type Tenant, tenantOf } from '../platform/tenant.ts';
import type { WriteRequest } from '../platform/writes/idempotency-records.ts';
import { TurnQueue } from '../platform/writes/turn-queue.ts';
import type { Writes } from '../platform/writes/writes.ts';

/** Longer than the deadline of public API calls. */
const MAX_WAIT_MS = 15_000;

/**
 * Runs the writes of accounts. Calls of this process on one account run one at a time, and queue again while another process
 * holds the account's row. After 15 seconds ABORTED (ACCOUNT_BUSY), or UNAVAILABLE (DATABASE_UNAVAILABLE) if the calls before
 * it wait for a database that does not answer.
 */
export class AccountWrites {
  readonly #writes: Writes;
  readonly #queue: TurnQueue;

  /**
   * @param database the one that `writes` uses.
   * @param maxWaitMs how long a call whose caller has no deadline waits for its turn.
   */
  constructor(writes: Writes, database: Pick<Database, 'ping'>, maxWaitMs = MAX_WAIT_MS) {
    this.#writes = writes;
    const accountBusy = () => aborted('ACCOUNT_BUSY', 'other calls hold the account; try again');
    const onTimeout = () => database.ping().then(accountBusy, databaseUnavailable);
    this.#queue = new TurnQueue({ atOnce: 1, maxWaitMs, onTimeout });
  }

  /** Runs a write RPC on the account of its tenant, like {@link Writes.run}. */
  run<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
  ): Promise<MessageShape<Output>> {
    return this.#enqueue(tenantOf(request), context, () => this.#writes.run<Output>(request, context, work));
  }

  /** Runs a transaction on an account, like {@link Writes.transaction}. */
  transaction<T>(
    tenant: Tenant,
    context: Pick<HandlerContext, 'values' | 'signal'>,
    work: (tx: TenantTransaction, em: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.#enqueue(tenant, context, () => this.#writes.transaction(tenant, context, work));
  }

  #enqueue<T>(
    { merchantId, environment }: Tenant,
    { signal }: Pick<HandlerContext, 'signal'>,
    write: () => Promise<T>,
  ): Promise<T> {
    return this.#queue.runWithLockRetries(`${merchantId} ${environment}`, signal, write);
  }
}
