import type { HandlerContext } from '@connectrpc/connect';
import type {
  DeleteWebhookSubscriptionRequest,
  DeleteWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { cancelBacklog } from './cancel-backlog.ts';
import { disableSubscription } from './disable-subscription.ts';
import { SigningSecretEntity } from './subscription.entity.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription, lockSubscriptions } from './subscription-store.ts';

/**
 * Disables a subscription permanently, deletes its secrets, and frees its url and its place in the limit. Its row stays for
 * as long as its deliveries can be read.
 */
export async function deleteWebhookSubscription(
  writes: Writes,
  request: DeleteWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  const answer = await writes.run<typeof DeleteWebhookSubscriptionResponseSchema>(
    request,
    context,
    async (tx) => {
      const position = await lockSubscriptions(tx);
      const subscription = await lockSubscription(tx, request.subscriptionId);
      const at = new Date();
      await disableSubscription(tx, subscription, { at, position });
      subscription.deletedAt = at;
      const secrets = await tx.lock(
        SigningSecretEntity,
        { subscriptionId: subscription.id },
        { orderBy: { id: 'asc' } },
      );
      for (const secret of secrets) tx.remove(secret);
      return { subscription: storedSubscriptionMessage(subscription) };
    },
  );
  await cancelBacklog(writes, request, context);
  return answer;
}
