import * as retryDelivery from '../../workflows/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { endDeliveries } from './end-deliveries.ts';
import type { SubscriptionRow } from './subscription.entity.ts';

/** Cancels what is open of a subscription; answers the deliveries that a retry workflow carries. */
const CANCEL_DELIVERIES = `
with ${endDeliveries(
  `where d.merchant_id = :merchantId and d.environment = :environment and d.subscription_id = :subscriptionId`,
  { status: `'CANCELED'`, endedAt: ':at::timestamptz' },
)}
select id from ended where open_status = 'RETRYING'`;

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
  subscription.pausedAt = null;
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
