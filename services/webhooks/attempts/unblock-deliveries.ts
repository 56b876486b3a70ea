import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { unblockSql } from '../deliveries/ordered-deliveries.ts';

/** An object whose events an ordered subscription receives one after another. */
export interface OrderedObjectRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly object_id: string;
}

const UNBLOCK: Statement = {
  name: 'unblock_deliveries',
  text: unblockSql(`(
  select distinct * from unnest(:merchantIds::uuid[], :environments::text[], :subscriptionIds::uuid[], :objectIds::text[])
                      as asked (merchant_id, environment, subscription_id, object_id))`),
};

/** Unblocks the first open delivery of each object, if it is BLOCKED. */
export async function unblockDeliveries(run: Run, objects: readonly OrderedObjectRow[]): Promise<void> {
  if (objects.length === 0) return;
  await run(UNBLOCK, {
    merchantIds: objects.map(({ merchant_id }) => merchant_id),
    environments: objects.map(({ environment }) => environment),
    subscriptionIds: objects.map(({ subscription_id }) => subscription_id),
    objectIds: objects.map(({ object_id }) => object_id),
  });
}

/** Objects whose first open delivery is BLOCKED, found by index jumps. */
export const FIND_BLOCKED: Statement = {
  name: 'find_blocked_objects',
  text: `
with recursive subscription as materialized (
  select s.id from webhooks.subscription s
   where s.ordered and s.lane = any (:lanes::smallint[])
     and exists (select from webhooks.open_delivery d where d.subscription_id = s.id and d.status = 'BLOCKED')
), object (subscription_id, object_id) as (
  select s.id, first.object_id
    from subscription s
   cross join lateral (
     select d.object_id from webhooks.open_delivery d
      where d.ordered and d.subscription_id = s.id order by d.object_id limit 1) first
  union all
  select object.subscription_id, next.object_id
    from object
   cross join lateral (
     select d.object_id from webhooks.open_delivery d
      where d.ordered and d.subscription_id = object.subscription_id and d.object_id > object.object_id
      order by d.object_id limit 1) next
)
select first.merchant_id, first.environment, first.subscription_id, first.object_id
  from object
 cross join lateral (
   select d.* from webhooks.open_delivery d
    where d.ordered and d.subscription_id = object.subscription_id and d.object_id = object.object_id
    order by d.sequence limit 1) first
 where first.status = 'BLOCKED'`,
};

/**
 * Unblocks deliveries that an earlier owner of the lanes left BLOCKED, because it died between ending a delivery and
 * unblocking the next.
 */
export async function unblockLanes(run: Run, lanes: readonly number[]): Promise<void> {
  await unblockDeliveries(run, await run<OrderedObjectRow>(FIND_BLOCKED, { lanes }));
}

/** In a fixed order, so that two transactions that lock the same subscriptions do not deadlock. */
const LOCK_SUBSCRIPTIONS: Statement = {
  name: 'lock_subscriptions',
  text: `
select from (
  select distinct * from unnest(:merchantIds::uuid[], :environments::text[], :subscriptionIds::uuid[]) as asked (merchant_id, environment, id)
   order by id
) asked
 cross join lateral (
   select from webhooks.subscription s
    where s.merchant_id = asked.merchant_id and s.environment = asked.environment and s.id = asked.id
      for no key update
 ) s`,
};

/** Locks the subscriptions until the transaction ends. */
export async function lockSubscriptionRows(
  run: Run,
  rows: readonly Omit<OrderedObjectRow, 'object_id'>[],
): Promise<void> {
  if (rows.length === 0) return;
  await run(LOCK_SUBSCRIPTIONS, {
    merchantIds: rows.map(({ merchant_id }) => merchant_id),
    environments: rows.map(({ environment }) => environment),
    subscriptionIds: rows.map(({ subscription_id }) => subscription_id),
  });
}
