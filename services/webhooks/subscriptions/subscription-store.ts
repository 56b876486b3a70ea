import type { NamedParameters } from '../../platform/database/named-sql.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { WebhookUrl } from '../../platform/egress/webhook-url.ts';
import { alreadyExists, notFound } from '../../platform/errors.ts';
import { SubscriptionEntity, type SubscriptionRow } from './subscription.entity.ts';

/** NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND): the merchant has no such subscription in this environment. */
export const subscriptionNotFound = () =>
  notFound('WEBHOOK_SUBSCRIPTION_NOT_FOUND', 'the webhook subscription does not exist');

/**
 * Locks the merchant's subscriptions, for a change of what they receive, until the transaction ends. Every event that
 * commits after the change sees it, including one that was being published. Call it before the subscription is read.
 * @returns the position of the change among the merchant's events.
 */
export async function lockSubscriptions(tx: TenantTransaction): Promise<bigint> {
  const [row] = await tx.execute<{ position: string | number | bigint }>(
    'select webhooks.lock_subscriptions(:merchantId, :environment) as position',
  );
  return BigInt(row!.position);
}

/**
 * The subscription, locked until the transaction ends. NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND) if it was deleted,
 * and for a listener: it changes only with its connection.
 */
export async function lockSubscription(tx: TenantTransaction, id: string): Promise<SubscriptionRow> {
  const subscription = await tx.lockOne(SubscriptionEntity, { id, deletedAt: null, listeningUntil: null });
  if (!subscription) throw subscriptionNotFound();
  return subscription;
}

/** The subscription, not locked. NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND) if it was deleted, and for a listener. */
export async function readSubscription(tx: TenantTransaction, id: string): Promise<SubscriptionRow> {
  const subscription = await tx.findOne(SubscriptionEntity, { id, deletedAt: null, listeningUntil: null });
  if (!subscription) throw subscriptionNotFound();
  return subscription;
}

/**
 * One subscription per URL, disabled ones included. ALREADY_EXISTS (WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS).
 * @param ownId the subscription that may have it.
 */
export async function requireUnusedUrl(
  tx: TenantTransaction,
  { uniqueForm }: WebhookUrl,
  ownId?: string,
): Promise<void> {
  const existing = await tx.findOne(SubscriptionEntity, { uniqueUrl: uniqueForm, deletedAt: null });
  if (!existing || existing.id === ownId) return;
  throw alreadyExists('WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS', 'a webhook subscription for this url exists', {
    subscription_id: existing.id,
  });
}

/**
 * Makes lane owners read the deliveries of subscriptions again, because they may have some in memory that are about
 * to be canceled. Call this before their rows are locked, in the same order as everything else that locks both.
 * @param which a condition on the subscription `s`.
 */
export async function refreshOwners(
  tx: TenantTransaction,
  which: string,
  parameters: NamedParameters,
): Promise<void> {
  await tx.execute(
    `update webhooks.subscription s set changed_xid = pg_current_xact_id()
      where s.merchant_id = :merchantId and s.environment = :environment and ${which}`,
    parameters,
  );
}
