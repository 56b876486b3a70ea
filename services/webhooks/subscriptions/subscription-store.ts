import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { notFound } from '../../platform/errors.ts';
import { SubscriptionEntity, type SubscriptionRow } from './subscription.entity.ts';

/** NOT_FOUND (WEBHOOK_SUBSCRIPTION_NOT_FOUND): the merchant has no such subscription in this environment. */
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
