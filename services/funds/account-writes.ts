import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import { isLockTimeout } from '../platform/database/database-errors.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { aborted } from '../platform/errors.ts';
import { type Tenant, tenantOf } from '../platform/tenant.ts';
import type { WriteRequest } from '../platform/writes/idempotency-records.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { AccountQueue } from './account-queue.ts';

/** For callers without a deadline. Longer than the deadline of public API calls. */
const MAX_WAIT_MS = 15_000;

/**
 * Runs the writes of accounts. Calls of this process on one account run one at a time and wait for their turn without a
 * connection. A call that waits too long for the row of the account, which another process has locked, releases its
 * connection and queues again, until its caller stops waiting. ABORTED (ACCOUNT_BUSY) after 15 seconds.
 */
export class AccountWrites {
  readonly #writes: Writes;
  readonly #queue = new AccountQueue();

  constructor(writes: Writes) {
    this.#writes = writes;
  }

  /** Runs a write RPC on the account of its tenant, like {@link Writes.run}. */
  run<Output extends DescMessage>(
    request: WriteRequest,
    context: HandlerContext,
    work: (tx: TenantTransaction) => Promise<MessageInitShape<Output>>,
  ): Promise<MessageShape<Output>> {
    return this.#inTurn(tenantOf(request), context, () => this.#writes.run<Output>(request, context, work));
  }

  /** Runs a transaction on an account, like {@link Writes.transaction}. */
  transaction<T>(
    tenant: Tenant,
    context: Pick<HandlerContext, 'values' | 'signal'>,
    work: (tx: TenantTransaction, em: EntityManager) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(tenant, context, () => this.#writes.transaction(tenant, context, work));
  }

  async #inTurn<T>(
    { merchantId, environment }: Tenant,
    { signal: caller }: Pick<HandlerContext, 'signal'>,
    write: () => Promise<T>,
  ): Promise<T> {
    const patience = AbortSignal.timeout(MAX_WAIT_MS);
    const signal = AbortSignal.any([caller, patience]);
    for (;;) {
      const endTurn = await this.#queue.enter(`${merchantId} ${environment}`, signal).catch((reason) => {
        if (caller.aborted) throw ConnectError.from(caller.reason, Code.Canceled);
        throw patience.aborted ? accountBusy() : reason;
      });
      try {
        return await write();
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
      } finally {
        endTurn();
      }
    }
  }
}

const accountBusy = () => aborted('ACCOUNT_BUSY', 'other calls hold the account; try again');
