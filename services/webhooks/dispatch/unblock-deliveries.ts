import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { unblockSql } from '../deliveries/ordered-deliveries.ts';
import { LOCK_SUBSCRIPTIONS } from './record-attempts.sql.ts';

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

/** Unblocks the first open delivery of each object. The caller has locked their subscriptions. */
export async function unblockDeliveries(run: Run, objects: readonly OrderedObjectRow[]): Promise<void> {
  if (objects.length === 0) return;
  await run(UNBLOCK, {
    merchantIds: objects.map(({ merchant_id }) => merchant_id),
    environments: objects.map(({ environment }) => environment),
    subscriptionIds: objects.map(({ subscription_id }) => subscription_id),
    objectIds: objects.map(({ object_id }) => object_id),
  });
}

/** Locks the subscriptions until the transaction ends. */
export async function lockSubscriptions(
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

const FIND_STUCK: Statement = {
  name: 'find_stuck',
  text: `
select d.merchant_id, d.environment, d.subscription_id, d.object_id
  from webhooks.open_delivery d
 where d.status = 'BLOCKED' and not exists (
   select from webhooks.open_delivery earlier
    where earlier.ordered and earlier.subscription_id = d.subscription_id and earlier.object_id = d.object_id
      and earlier.sequence < d.sequence)
 limit 1000`,
};

/**
 * Unblocks deliveries that no longer wait for anything. That happens when two dispatchers disagree on whether an earlier
 * event matches a subscription that was disabled and reactivated at that moment.
 */
export async function unblockStuck(db: CrossTenantDatabase): Promise<void> {
  const objects = await db.run<OrderedObjectRow>(FIND_STUCK);
  if (objects.length === 0) return;
  await db.transaction(async (run) => {
    await lockSubscriptions(run, objects);
    await unblockDeliveries(run, objects);
  });
}
