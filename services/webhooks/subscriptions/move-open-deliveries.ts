import type { HandlerContext } from '@connectrpc/connect';
import { NIL } from 'uuid';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { type TenantFields, tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';

/** A delivery that was moved, and its previous status. */
export interface MovedDelivery {
  readonly id: string;
  readonly status: DeliveryStatusName;
}

/** The deliveries of a subscription to move, as SQL over `s` and `d`, and their new status. */
export interface Move {
  /** The condition on the subscription; once it is false, the move stops. */
  readonly while: string;
  readonly from: string;
  readonly to: DeliveryStatusName;
  /** Called in the transaction that moves them. */
  readonly onMoved?: (tx: TenantTransaction, moved: readonly MovedDelivery[]) => Promise<void>;
}

/** The subscription of a request. */
export interface SubscriptionRequest extends TenantFields {
  readonly subscriptionId: string;
}

/** Small enough to lock the rows only briefly. */
const STEP = 1_000;

const moveSome = (move: Move) => `
with subscription as materialized (
  select s.id from webhooks.subscription s
   where s.merchant_id = :merchantId and s.environment = :environment and s.id = :subscriptionId
     and ${move.while}
     for no key update
), picked as materialized (
  select d.id, d.status
    from webhooks.open_delivery d
   where d.merchant_id = :merchantId and d.environment = :environment
     and d.subscription_id = (select id from subscription) and d.id > :after and ${move.from}
   order by d.id limit ${STEP}
     for update
), moved as (
  update webhooks.open_delivery d
     set status = '${move.to}', requested = false, changed_xid = pg_current_xact_id()
    from picked
   where d.merchant_id = :merchantId and d.environment = :environment and d.id = picked.id
)
select id, status from picked order by id`;

/**
 * Moves open deliveries of a subscription to another status, oldest first, in short transactions, because a failing
 * endpoint may have a million of them. Stops if the subscription changes in the meantime.
 */
export async function moveOpenDeliveries(
  writes: Writes,
  request: SubscriptionRequest,
  context: HandlerContext,
  move: Move,
): Promise<void> {
  const { subscriptionId } = request;
  const sql = moveSome(move);
  const moveAfter = (after: string) =>
    writes.transaction(tenantOf(request), context, async (tx) => {
      const moved = await tx.execute<MovedDelivery>(sql, { subscriptionId, after });
      await move.onMoved?.(tx, moved);
      return moved.at(-1)?.id;
    });
  for (let last = await moveAfter(NIL); last; ) last = await moveAfter(last);
}
