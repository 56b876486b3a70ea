import type { HandlerContext } from '@connectrpc/connect';
import { NIL } from 'uuid';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { requestIdOf } from '../../platform/rpc/call-context.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';

/** A delivery that was moved, and what it was. */
export interface MovedDelivery {
  readonly id: string;
  readonly status: DeliveryStatusName;
}

/** Which deliveries of a subscription to move, in SQL over `s` and `d`, and what they become. */
export interface Move {
  /** Holds of the subscription as long as there is anything to move. */
  readonly while: string;
  readonly from: string;
  readonly to: DeliveryStatusName;
  /** Until when those under way count as such, where that changes. */
  readonly inFlightUntil?: string;
  /** In the transaction that moves them. */
  readonly onMoved?: (tx: TenantTransaction, moved: readonly MovedDelivery[]) => Promise<void>;
}

/** What a request about one subscription names. */
export interface SubscriptionRequest {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly subscriptionId: string;
}

/** So few that nothing of others waits long for their rows. */
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
     set status = '${move.to}', batch_id = null, in_flight_until = ${move.inFlightUntil ?? 'd.in_flight_until'}
    from picked
   where d.merchant_id = :merchantId and d.environment = :environment and d.id = picked.id
)
select id, status from picked order by id`;

/**
 * Moves open deliveries of a subscription between waiting and held, oldest first, in transactions as short as others
 * can wait for: of an endpoint in trouble there may be a million. A subscription that changes meanwhile ends it.
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
    writes.transaction(tenantOf(request), requestIdOf(context), async (tx) => {
      const moved = await tx.execute<MovedDelivery>(sql, { subscriptionId, after });
      await move.onMoved?.(tx, moved);
      return moved.at(-1)?.id;
    });
  for (let last = await moveAfter(NIL); last; ) last = await moveAfter(last);
}
