import { failedPrecondition, notFound } from '../platform/errors.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { SubscriptionEntity, type SubscriptionRow } from './subscription.entity.ts';

/** What every RPC answers for a subscription that this merchant does not have in this environment. */
export const subscriptionNotFound = () =>
  notFound('WEBHOOK_SUBSCRIPTION_NOT_FOUND', 'there is no such webhook subscription');

/** The subscription, locked until the transaction ends. NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND). */
export async function lockSubscription(tx: TenantTransaction, id: string): Promise<SubscriptionRow> {
  const subscription = await tx.lockOne(SubscriptionEntity, { id });
  if (!subscription) throw subscriptionNotFound();
  return subscription;
}

/** The subscription, not locked. NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND). */
export async function readSubscription(tx: TenantTransaction, id: string): Promise<SubscriptionRow> {
  const subscription = await tx.findOne(SubscriptionEntity, { id });
  if (!subscription) throw subscriptionNotFound();
  return subscription;
}

/** Until the transaction ends, no other adds or enables a subscription of this tenant. */
export async function lockSubscriptionLimit(tx: TenantTransaction): Promise<void> {
  await tx.execute(
    `select pg_advisory_xact_lock(
       hashtextextended('webhook subscriptions ' || :merchantId || ' ' || :environment, 0))`,
  );
}

/** Refuses one more than the limit of subscriptions that are not DISABLED. WEBHOOK_SUBSCRIPTION_LIMIT_REACHED. */
export async function requireRoom(tx: TenantTransaction, limit: number): Promise<void> {
  const [row] = await tx.execute<{ enabled: string }>(
    `select count(*) as enabled from webhooks.subscription
      where merchant_id = :merchantId and environment = :environment and state <> 'DISABLED'`,
  );
  if (Number(row!.enabled) < limit) return;
  throw failedPrecondition(
    'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
    `a merchant has at most ${limit} webhook subscriptions that are not disabled`,
    { limit: String(limit) },
  );
}
