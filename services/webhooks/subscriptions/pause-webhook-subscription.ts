import type { HandlerContext } from '@connectrpc/connect';
import type {
  PauseWebhookSubscriptionRequest,
  PauseWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { type Move, type MovedDelivery, moveOpenDeliveries } from './move-open-deliveries.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { requireEnabled } from './subscription.ts';
import { lockSubscription, lockSubscriptions, readSubscription } from './subscription-store.ts';

const HOLD: Move = {
  while: 's.paused_at is not null',
  from: `d.status in ('PENDING', 'RETRYING')`,
  to: 'HELD',
  onMoved: endRetryWorkflows,
};

/**
 * Puts the deliveries of a subscription on hold; no effect if it is paused. New deliveries are held from the first commit
 * on. Existing PENDING and RETRYING deliveries are then moved, and the call returns once none is left.
 */
export async function pauseWebhookSubscription(
  writes: Writes,
  request: PauseWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  const replayed = await writes.findReplay<typeof PauseWebhookSubscriptionResponseSchema>(request, context);
  if (replayed) return replayed;
  const { subscriptionId } = request;
  await writes.begin(request, context, async (tx) => {
    await lockSubscriptions(tx);
    const subscription = await lockSubscription(tx, subscriptionId);
    requireEnabled(subscription.state);
    subscription.pausedAt ??= new Date();
    subscription.holding = true;
  });
  await moveOpenDeliveries(writes, request, context, HOLD);
  return writes.finish<typeof PauseWebhookSubscriptionResponseSchema>(request, context, async (tx) => ({
    subscription: storedSubscriptionMessage(await readSubscription(tx, subscriptionId)),
  }));
}

/** A retry workflow ends when it checks its delivery and finds it HELD. */
async function endRetryWorkflows(tx: TenantTransaction, moved: readonly MovedDelivery[]): Promise<void> {
  for (const { id, status } of moved) {
    if (status === 'RETRYING') await tx.command(retryDelivery.recheckCommand(id));
  }
}
