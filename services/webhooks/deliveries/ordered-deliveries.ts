import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { PING_TYPE } from '../events/ping.event.ts';

/** An object whose events are delivered to an ordered subscription one after the other. */
export interface OrderedObject {
  readonly subscriptionId: string;
  readonly objectId: string;
}

/** A SQL condition over two aliases: whether an event goes to a subscription of the same tenant. */
export const goesTo = (event: string, subscription: string) =>
  `${subscription}.state <> 'DISABLED'
     and case when ${event}.type = '${PING_TYPE}' then ${subscription}.id::text = ${event}.object_id
              else ${event}.type = any (${subscription}.event_types)
                   and ${subscription}.enabled_at <= ${event}.occurred_at end`;

/**
 * Unblocks the first open delivery of each object if it is BLOCKED and no earlier event of its object is still in the
 * outbox. An earlier statement of the transaction must lock the subscriptions: of two transactions that add and end
 * deliveries at the same time, the later one then sees the changes of the other and unblocks the delivery.
 * @param objects a relation of (merchant_id, environment, subscription_id, object_id).
 */
export const unblockSql = (objects: string) => `
update webhooks.open_delivery d
   set status = case when s.paused_at is null then 'PENDING' else 'HELD' end
  from ${objects} as asked
 cross join lateral (
   select id, merchant_id, environment, sequence, status from webhooks.open_delivery
    where merchant_id = asked.merchant_id and environment = asked.environment
      and ordered and subscription_id = asked.subscription_id and object_id = asked.object_id
    order by sequence limit 1
 ) first
  join webhooks.subscription s
    on s.merchant_id = first.merchant_id and s.environment = first.environment and s.id = asked.subscription_id
 where d.id = first.id and first.status = 'BLOCKED' and d.status = 'BLOCKED'
   and not exists (
     select from platform.outbox_event e
      where e.merchant_id = first.merchant_id and e.environment = first.environment
        and e.object_id = asked.object_id and e.sequence < first.sequence and ${goesTo('e', 's')})`;

const UNBLOCK_NEXT = `${unblockSql(`(
  select :merchantId::uuid as merchant_id, :environment::text as environment,
         :subscriptionId::uuid as subscription_id, :objectId::text as object_id)`)}
   and d.merchant_id = :merchantId and d.environment = :environment`;

/** Locks the subscription of an ordered delivery. Call it before ending the delivery in this transaction. */
export async function lockOrder(tx: TenantTransaction, { subscriptionId }: OrderedObject): Promise<void> {
  await tx.execute(
    `select from webhooks.subscription
      where merchant_id = :merchantId and environment = :environment and id = :subscriptionId
        for no key update`,
    { subscriptionId },
  );
}

/** Unblocks the object's next delivery. Call it after ending an ordered delivery in this transaction. */
export async function unblockNext(tx: TenantTransaction, object: OrderedObject): Promise<void> {
  await tx.execute(UNBLOCK_NEXT, { ...object });
}
