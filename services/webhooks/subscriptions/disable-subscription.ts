import { MAX } from 'uuid';
import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { SubscriptionRow } from './subscription.entity.ts';
import type { SubscriptionError } from './subscription.ts';

/** When a change was made: its time, and its position among the merchant's events. */
interface ChangeTime {
  readonly at: Date;
  readonly position: bigint;
}

/**
 * Finds the first among the oldest deliveries: their ids are in the order of their events, except for events
 * published at the same time. A resend of an earlier missed period that has not ended leaves some of it undelivered.
 */
const FIRST_UNDELIVERED = `
select least(
  (select min(e.position)
     from (select event_type, event_id from webhooks.open_delivery
            where merchant_id = :merchantId and environment = :environment and subscription_id = :id
              and resend_id is null
            order by id limit 1000) d
     join webhooks.event e
       on e.merchant_id = :merchantId and e.environment = :environment and e.type = d.event_type and e.id = d.event_id),
  (select min(missed_from) from webhooks.resend
    where merchant_id = :merchantId and environment = :environment and state = 'RUNNING' and subscription_id = :id)
) as position`;

/** A resend of the subscription makes no more deliveries, even if the subscription is soon reactivated: they count as missed. */
const CUT_OFF_RESENDS = `
update webhooks.resend set after_event_id = '${MAX}'
 where merchant_id = :merchantId and environment = :environment and state = 'RUNNING' and subscription_id = :id`;

/**
 * Disables a subscription. Its generation rises, so that outcomes of attempts in flight change nothing. Cancels up to a
 * thousand open deliveries with their workflows; the others are no longer sent, and `cancelBacklog` and maintenance
 * cancel them. The caller has locked the merchant's subscriptions. No effect on a disabled one.
 * @param error set if the endpoint caused it: the merchant's contact is notified.
 */
export async function disableSubscription(
  tx: TenantTransaction,
  subscription: SubscriptionRow,
  { at, position }: ChangeTime,
  error?: SubscriptionError,
): Promise<void> {
  if (subscription.state === 'DISABLED') return;
  subscription.state = 'DISABLED';
  subscription.disabledAt = at;
  subscription.disabledPosition = await firstMissed(tx, subscription.id, position);
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
  await tx.execute(CUT_OFF_RESENDS, { id: subscription.id });
  await cancelOpenDeliveries(tx, 'subscription_id', subscription.id);
}

/**
 * The position of the first event that the subscription misses: that of the first delivery canceled now, that of the first
 * event that a resend of missed events has to deliver, or that of the change.
 */
async function firstMissed(tx: TenantTransaction, id: string, position: bigint): Promise<bigint> {
  const [row] = await tx.execute<{ position: string | number | bigint | null }>(FIRST_UNDELIVERED, { id });
  return row?.position == null ? position : BigInt(row.position);
}
