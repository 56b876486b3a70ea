import { setTimeout as delay } from 'node:timers/promises';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, unavailable } from '../../platform/errors.ts';

const LONGEST_PAUSE_MS = 50;
const TIMEOUT_MS = 10_000;

/** Another transaction is adding or enabling a subscription of the tenant. */
class SubscriptionCountLocked extends Error {}

/**
 * Runs a write that locks the tenant's number of subscriptions, and retries it while another holds the lock. It holds no
 * connection while it waits, so many requests of one merchant do not exhaust the pool. UNAVAILABLE
 * (WEBHOOK_SUBSCRIPTIONS_BUSY) after 10 s.
 */
export async function withSubscriptionLock<T>(write: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof SubscriptionCountLocked)) throw error;
      if (performance.now() > giveUpAt)
        throw unavailable(
          'WEBHOOK_SUBSCRIPTIONS_BUSY',
          'other webhook subscriptions are being created; try again',
        );
    }
    await delay(Math.random() * LONGEST_PAUSE_MS);
  }
}

/** Locks the tenant's number of subscriptions until the transaction ends. Call it within `withSubscriptionLock`. */
export async function lockSubscriptionCount(tx: TenantTransaction): Promise<void> {
  if (!(await tx.tryNamedLock('webhook subscription count'))) throw new SubscriptionCountLocked();
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
