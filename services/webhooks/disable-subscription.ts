import * as retryDelivery from '../../workflows/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import type { SubscriptionRow } from './subscription.entity.ts';

/** Ends what is open of a subscription; answers the deliveries that a retry workflow carries. */
const CANCEL_DELIVERIES = `
with open as (
  select id, status from webhooks.delivery
   where merchant_id = :merchantId and environment = :environment
     and subscription_id = :subscriptionId and ended_at is null
     for update
), canceled as (
  update webhooks.delivery d
     set status = 'CANCELED', ended_at = :at, next_attempt_at = null, busy_since = null, busy_until = null
    from open
   where d.merchant_id = :merchantId and d.environment = :environment and d.id = open.id
)
select id from open where status = 'RETRYING'`;

/**
 * DISABLED from the commit on: the generation rises, so that outcomes of attempts under way change nothing, and all
 * that waits is canceled with its workflows. The subscription is locked by the caller. Repeating is no error.
 */
export async function disableSubscription(
  tx: TenantTransaction,
  subscription: SubscriptionRow,
  at: Date,
  error?: string,
): Promise<void> {
  if (subscription.state === 'DISABLED') return;
  subscription.state = 'DISABLED';
  subscription.disabledAt = at;
  subscription.generation += 1n;
  subscription.holding = false;
  subscription.probeAt = null;
  if (error) {
    subscription.errorReason = error;
    subscription.errorAt = at;
  }
  await tx.flush();
  const retrying = await tx.execute<{ id: string }>(CANCEL_DELIVERIES, {
    subscriptionId: subscription.id,
    at,
  });
  for (const { id } of retrying)
    await tx.command({ kind: 'CANCEL', workflowId: retryDelivery.workflowId(id) });
}
