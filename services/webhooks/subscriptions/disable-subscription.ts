import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { SubscriptionRow } from './subscription.entity.ts';
import type { SubscriptionError } from './subscription.ts';

/**
 * DISABLED from the commit on: the generation rises, so that outcomes of attempts under way change nothing, and what
 * waits is canceled with its workflows. Of more than a thousand the rest is not sent any more, and is left to
 * `cancelBacklog` and to the periodic task. The subscription is locked by the caller. Repeating is no error.
 * @param error why, where it was not a person's will: the merchant's contact is told.
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
