import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, unavailable } from '../../platform/errors.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { TurnQueue } from '../../platform/writes/turn-queue.ts';

const LONGEST_PAUSE_MS = 50;
const TIMEOUT_MS = 10_000;

/** Another transaction is adding or enabling a subscription of the tenant. */
class SubscriptionCountLocked extends Error {}

/** Runs the writes that lock the number of a tenant's subscriptions. */
export class SubscriptionCountWrites {
  readonly #turns = new TurnQueue();

  /**
   * Runs the write, and repeats it while another holds the lock. Of the calls of this process that wait for the lock, one
   * at a time tries to take it, without a connection between its tries: many calls of one merchant leave the pool and the
   * processor to others. UNAVAILABLE (WEBHOOK_SUBSCRIPTIONS_BUSY) after 10 s.
   */
  async run<T>(tenant: Tenant, { signal: caller }: Pick<HandlerContext, 'signal'>, write: () => Promise<T>) {
    const written = await unlessLocked(write);
    if (written) return written.value;
    const { merchantId, environment } = tenant;
    const patience = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([caller, patience]);
    try {
      const endTurn = await this.#turns.enter(`${merchantId} ${environment}`, signal);
      try {
        return await repeatWhileLocked(write, signal);
      } finally {
        endTurn();
      }
    } catch (error) {
      if (error !== signal.reason) throw error;
      if (caller.aborted) throw ConnectError.from(caller.reason, Code.Canceled);
      const busy = 'other webhook subscriptions are being created; try again';
      throw unavailable('WEBHOOK_SUBSCRIPTIONS_BUSY', busy);
    }
  }
}

async function repeatWhileLocked<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const written = await unlessLocked(write);
    if (written) return written.value;
    await delay(Math.random() * LONGEST_PAUSE_MS);
    signal.throwIfAborted();
  }
}

async function unlessLocked<T>(write: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
  try {
    return { value: await write() };
  } catch (error) {
    if (error instanceof SubscriptionCountLocked) return undefined;
    throw error;
  }
}

/** Locks the tenant's number of subscriptions until the transaction ends. Call it within `SubscriptionCountWrites.run`. */
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
