import type { HandlerContext } from '@connectrpc/connect';
import { NIL } from 'uuid';
import { tenantOf } from '../../platform/tenant.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import type { SubscriptionRequest } from './move-open-deliveries.ts';

/** The extra time that a response may take for it. */
const TIME_LIMIT_MS = 5_000;

/**
 * Cancels the remaining open deliveries of a subscription in short transactions; no effect unless it is DISABLED. None
 * of them is sent in the meantime. After the time limit, the periodic task disabledBacklogs cancels the rest.
 */
export async function cancelBacklog(
  writes: Writes,
  request: SubscriptionRequest,
  context: HandlerContext,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<void> {
  const endsAt = performance.now() + timeLimitMs;
  const cancelAfter = (after: string) =>
    writes.transaction(tenantOf(request), context, async (tx) => {
      const { last } = await cancelOpenDeliveries(tx, 'subscription_id', request.subscriptionId, after);
      return last;
    });
  let last = await cancelAfter(NIL);
  while (last && performance.now() < endsAt) last = await cancelAfter(last);
}
