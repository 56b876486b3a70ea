import type { HandlerContext } from '@connectrpc/connect';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, unavailable } from '../../platform/errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import {
  idempotencyScope,
  keyInUse,
  lockNameOf,
  type WriteRequest,
} from '../../platform/writes/idempotency-records.ts';
import { TurnQueue } from '../../platform/writes/turn-queue.ts';

const MAX_WAIT_MS = 10_000;
const LOCK_TIMEOUT_MS = 500;

/** Runs the writes that lock the number of a tenant's subscriptions. */
export class SubscriptionCountWrites {
  readonly #queue = new TurnQueue({
    atOnce: 1,
    maxWaitMs: MAX_WAIT_MS,
    onTimeout: () =>
      unavailable('WEBHOOK_SUBSCRIPTIONS_BUSY', 'other webhook subscriptions are being created; try again'),
  });
  /** The idempotency keys of the calls that wait or run. */
  readonly #keys = new Set<string>();

  /**
   * Runs the write, one of a tenant at a time: many calls of one merchant leave the pool and the processor to others.
   * UNAVAILABLE (WEBHOOK_SUBSCRIPTIONS_BUSY) after 10 s. ABORTED (IDEMPOTENCY_KEY_IN_USE) at once if a call with the same key
   * waits: it need not wait for its turn to be refused.
   */
  async run<T>(request: WriteRequest, context: HandlerContext, write: () => Promise<T>): Promise<T> {
    const { merchantId, environment } = tenantOf(request);
    const key = lockNameOf(idempotencyScope(request, context));
    if (this.#keys.has(key)) throw keyInUse();
    this.#keys.add(key);
    try {
      return await this.#queue.runWithLockRetries(`${merchantId} ${environment}`, context.signal, write);
    } finally {
      this.#keys.delete(key);
    }
  }
}

/** Locks the tenant's number of subscriptions until the transaction ends. Call it within `SubscriptionCountWrites.run`. */
export async function lockSubscriptionCount(tx: TenantTransaction): Promise<void> {
  await tx.limitLockWaits(LOCK_TIMEOUT_MS);
  await tx.awaitNamedLock('webhook subscription count');
}

/**
 * Throws if as many subscriptions as the limit allows are not DISABLED; listeners do not count.
 * WEBHOOK_SUBSCRIPTION_LIMIT_REACHED.
 */
export async function requireBelowLimit(tx: TenantTransaction, limit: number): Promise<void> {
  const [row] = await tx.execute<{ enabled: string }>(
    `select count(*) as enabled from webhooks.subscription
      where merchant_id = :merchantId and environment = :environment and state <> 'DISABLED'
        and listening_until is null`,
  );
  if (Number(row!.enabled) < limit) return;
  throw failedPrecondition(
    'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
    `a merchant has at most ${limit} webhook subscriptions that are not disabled`,
    { limit: String(limit) },
  );
}
