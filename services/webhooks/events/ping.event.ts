import { PING_TYPE } from '../../contracts/webhooks/ping-type.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { SubscriptionRow } from '../subscriptions/subscription.entity.ts';

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
