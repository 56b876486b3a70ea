import type { TenantTransaction } from '../platform/tenant-transaction.ts';
import { PING_TYPE } from './ping.event.ts';

/** Whose turn it is: the deliveries of one object to one subscription that is ordered. */
export interface DeliveryLine {
  readonly subscriptionId: string;
  readonly objectId: string;
}

/** Whether an event, known to be of the subscription's tenant, goes to it: SQL over their aliases. */
export const goesTo = (event: string, subscription: string) =>
  `${subscription}.state <> 'DISABLED'
     and case when ${event}.type = '${PING_TYPE}' then ${subscription}.id::text = ${event}.object_id
              else ${event}.type = any (${subscription}.event_types)
                   and ${subscription}.enabled_at <= ${event}.occurred_at end`;

/**
 * Lets the first delivery of each line go, if it is BLOCKED and no earlier event of its object is still to be taken from
 * the outbox. The subscriptions are locked by an earlier statement, so that this one sees whatever others have added or
 * ended: of two that add and end at the same time the later lets the delivery go.
 * @param lines a relation of (merchant_id, environment, subscription_id, object_id).
 */
export const letNextGo = (lines: string) => `
update webhooks.open_delivery d
   set status = case when s.paused_at is null then 'PENDING' else 'HELD' end
  from ${lines} as line
 cross join lateral (
   select id, merchant_id, environment, sequence, status from webhooks.open_delivery
    where merchant_id = line.merchant_id and environment = line.environment
      and ordered and subscription_id = line.subscription_id and object_id = line.object_id
    order by sequence limit 1
 ) first
  join webhooks.subscription s
    on s.merchant_id = first.merchant_id and s.environment = first.environment and s.id = line.subscription_id
 where d.id = first.id and first.status = 'BLOCKED' and d.status = 'BLOCKED'
   and not exists (
     select from platform.outbox_event e
      where e.merchant_id = first.merchant_id and e.environment = first.environment
        and e.object_id = line.object_id and e.sequence < first.sequence and ${goesTo('e', 's')})`;

const LET_NEXT_GO = `${letNextGo(`(
  select :merchantId::uuid as merchant_id, :environment::text as environment,
         :subscriptionId::uuid as subscription_id, :objectId::text as object_id)`)}
   and d.merchant_id = :merchantId and d.environment = :environment`;

/** To be called before an ordered delivery is ended in this transaction. */
export async function lockLine(tx: TenantTransaction, { subscriptionId }: DeliveryLine): Promise<void> {
  await tx.execute(
    `select from webhooks.subscription
      where merchant_id = :merchantId and environment = :environment and id = :subscriptionId
        for no key update`,
    { subscriptionId },
  );
}

/** To be called after an ordered delivery was ended in this transaction: the next of its object goes. */
export async function letNextOfLineGo(tx: TenantTransaction, line: DeliveryLine): Promise<void> {
  await tx.execute(LET_NEXT_GO, { ...line });
}
