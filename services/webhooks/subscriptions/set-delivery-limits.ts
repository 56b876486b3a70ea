import type { HandlerContext } from '@connectrpc/connect';
import type {
  SetDeliveryLimitsRequest,
  SetDeliveryLimitsResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription } from './subscription-store.ts';

/** Sets a subscription's limits of concurrent attempts and attempts per second; an absent limit is reset to its default. */
export function setDeliveryLimits(
  writes: Writes,
  request: SetDeliveryLimitsRequest,
  context: HandlerContext,
) {
  return writes.run<typeof SetDeliveryLimitsResponseSchema>(request, context, async (tx) => {
    const subscription = await lockSubscription(tx, request.subscriptionId);
    subscription.maxConcurrentAttempts = request.maxConcurrentAttempts ?? null;
    subscription.maxAttemptsPerSecond = request.maxAttemptsPerSecond ?? null;
    return { subscription: storedSubscriptionMessage(subscription) };
  });
}
