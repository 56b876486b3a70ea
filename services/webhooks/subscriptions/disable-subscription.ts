import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { SubscriptionRow } from './subscription.entity.ts';
import type { SubscriptionError } from './subscription.ts';

/**
 * Disables a subscription. Its generation rises, so that outcomes of attempts in flight change nothing, and up to a
 * thousand open deliveries are canceled with their workflows; `cancelBacklog` and maintenance cancel the rest, which is no
 * longer sent. The caller has locked the subscription. No effect on a disabled one.
 * @param error set if the endpoint caused it: the merchant's contact is notified.
 */
export async function disableSubscription(
  tx: TenantTransaction,
  subscription: SubscriptionRow,
  at: Date,
  error?: SubscriptionError,
): Promise<void> {
  if (subscription.state === 'DISABLED') return;
  subscription.state = 'DISABLED';
  subscription.disabledAt = at;
  subscription.generation += 1n;
  subscription.holding = false;
  subscription.probeAt = null;
  subscription.pausedAt = null;
  if (error) {
    subscription.error = error;
    subscription.errorAt = at;
    await tx.command(
      notifyContact.startCommand({ ...tx.tenant, kind: 'WEBHOOK_GONE', subjectId: subscription.id }),
    );
  }
  await tx.flush();
  await cancelOpenDeliveries(tx, 'subscription_id', subscription.id);
}
