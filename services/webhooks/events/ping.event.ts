import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { SubscriptionRow } from '../subscriptions/subscription.entity.ts';

/** Sent to one subscription when it is created or reactivated, or as a test; it cannot be subscribed to or published. */
export const PING_TYPE = 'webhook.ping.v1';

/** Has the subscription of this transaction pinged: the event's object is the subscription it goes to. Answers its id. */
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
