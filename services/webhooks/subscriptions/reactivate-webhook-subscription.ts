import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReactivateWebhookSubscriptionRequest,
  ReactivateWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../../platform/timestamps.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { cancelOpenDeliveries } from '../deliveries/cancel-open-deliveries.ts';
import { publishPing } from '../events/ping.event.ts';
import { cancelBacklog } from './cancel-backlog.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { requireDisabled } from './subscription.ts';
import {
  lockSubscriptionCount,
  requireBelowLimit,
  type SubscriptionCountWrites,
} from './subscription-limit.ts';
import { lockSubscription, lockSubscriptions } from './subscription-store.ts';

interface Dependencies {
  readonly writes: Writes;
  readonly countWrites: SubscriptionCountWrites;
  readonly limit: number;
}

/**
 * DISABLED to PENDING, within the limit, with a new ping. Sends neither events published while it was DISABLED nor
 * deliveries that were open before.
 */
export async function reactivateWebhookSubscription(
  { writes, countWrites, limit }: Dependencies,
  request: ReactivateWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  await cancelBacklog(writes, request, context, Number.POSITIVE_INFINITY);
  return countWrites.run(request, context, () =>
    writes.run<typeof ReactivateWebhookSubscriptionResponseSchema>(request, context, async (tx) => {
      await lockSubscriptionCount(tx);
      const position = await lockSubscriptions(tx);
      const subscription = await lockSubscription(tx, request.subscriptionId);
      requireDisabled(subscription.state);
      while ((await cancelOpenDeliveries(tx, 'subscription_id', subscription.id)).last);
      await requireBelowLimit(tx, limit);
      const now = new Date();
      const missedFrom = subscription.disabledAt ?? now;
      const missed = { from: subscription.disabledPosition ?? position, before: position };
      subscription.state = 'PENDING';
      subscription.disabledAt = null;
      subscription.disabledPosition = null;
      await tx.flush();
      await publishPing(tx, subscription, now);
      return {
        subscription: storedSubscriptionMessage(subscription),
        missedFrom: timestampOf(missedFrom),
        missedTo: timestampOf(now),
        missed,
      };
    }),
  );
}
