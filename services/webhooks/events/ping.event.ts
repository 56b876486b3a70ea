import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { SubscriptionRow } from '../subscriptions/subscription.entity.ts';

/** Sent to one subscription when it is created or reactivated, or as a test; it cannot be subscribed to or published. */
export const PING_TYPE = 'webhook.ping.v1';

/** Publishes a ping for a subscription; the event's object is the subscription. Returns the event's id. */
export async function publishPing(
  tx: TenantTransaction,
  subscription: SubscriptionRow,
  occurredAt: Date,
): Promise<string> {
  const { id } = await tx.publish({
    type: PING_TYPE,
    objectId: subscription.id,
    data: { subscriptionId: subscription.id },
    occurredAt,
  });
  return id;
}
