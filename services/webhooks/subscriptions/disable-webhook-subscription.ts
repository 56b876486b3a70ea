import type { HandlerContext } from '@connectrpc/connect';
import type {
  DisableWebhookSubscriptionRequest,
  DisableWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { cancelBacklog } from './cancel-backlog.ts';
import { disableSubscription } from './disable-subscription.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription, lockSubscriptions } from './subscription-store.ts';

/** Stops delivery at once. Idempotent. */
export async function disableWebhookSubscription(
  writes: Writes,
  request: DisableWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  const answer = await writes.run<typeof DisableWebhookSubscriptionResponseSchema>(
    request,
    context,
    async (tx) => {
      const position = await lockSubscriptions(tx);
      const subscription = await lockSubscription(tx, request.subscriptionId);
      await disableSubscription(tx, subscription, { at: new Date(), position });
      return { subscription: storedSubscriptionMessage(subscription) };
    },
  );
  await cancelBacklog(writes, request, context);
  return answer;
}
