import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';

/** An object whose events are delivered to an ordered subscription one after the other. */
export interface OrderedObject {
  readonly subscriptionId: string;
  readonly objectId: string;
}

/**
 * Unblocks the first open delivery of each object, if it is BLOCKED: the owner of its lane reads it next.
 * @param objects a relation of (merchant_id, environment, subscription_id, object_id).
 */
export const unblockSql = (objects: string) => `
update webhooks.open_delivery d
   set status = case when s.paused_at is null then 'PENDING' else 'HELD' end, changed_xid = pg_current_xact_id()
  from ${objects} as asked
 cross join lateral (
   select id, merchant_id, environment, status from webhooks.open_delivery
    where merchant_id = asked.merchant_id and environment = asked.environment
      and ordered and subscription_id = asked.subscription_id and object_id = asked.object_id
    order by sequence limit 1
 ) first
  join webhooks.subscription s
    on s.merchant_id = first.merchant_id and s.environment = first.environment and s.id = asked.subscription_id
 where d.id = first.id and first.status = 'BLOCKED' and d.status = 'BLOCKED'`;

const UNBLOCK_NEXT = `${unblockSql(`(
  select :merchantId::uuid as merchant_id, :environment::text as environment,
         :subscriptionId::uuid as subscription_id, :objectId::text as object_id)`)}
   and d.merchant_id = :merchantId and d.environment = :environment`;

/**
 * Unblocks the object's next delivery. Call it after ending an ordered delivery in this transaction, which has locked the
 * merchant's subscriptions before: no event of the object is being published meanwhile.
 */
export async function unblockNext(tx: TenantTransaction, object: OrderedObject): Promise<void> {
  await tx.execute(UNBLOCK_NEXT, { ...object });
}
