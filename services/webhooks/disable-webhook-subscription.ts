import type { HandlerContext } from '@connectrpc/connect';
import type {
  DisableWebhookSubscriptionRequest,
  DisableWebhookSubscriptionResponseSchema,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../platform/writes.ts';
import { disableSubscription } from './disable-subscription.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription } from './subscription-store.ts';

/** Stops delivery at once; repeating is no error. */
export function disableWebhookSubscription(
  writes: Writes,
  request: DisableWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  return writes.run<typeof DisableWebhookSubscriptionResponseSchema>(request, context, async (tx) => {
    const subscription = await lockSubscription(tx, request.subscriptionId);
    await disableSubscription(tx, subscription, new Date());
    return { subscription: storedSubscriptionMessage(subscription) };
  });
}
