import type { HandlerContext } from '@connectrpc/connect';
import type {
  ResumeWebhookSubscriptionRequest,
  ResumeWebhookSubscriptionResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { type Move, moveOpenDeliveries } from './move-open-deliveries.ts';
import { storedSubscriptionMessage } from './subscription.message.ts';
import { lockSubscription, lockSubscriptions, readSubscription } from './subscription-store.ts';

/** Deliveries that are not due or still in flight are released later, like other HELD ones. */
const RELEASE: Move = {
  while: 's.paused_at is null and s.probe_at is null',
  from: `d.status = 'HELD' and d.next_attempt_at <= now() and (d.in_flight_until is null or d.in_flight_until < now())`,
  to: 'PENDING',
};

/**
 * Resumes the deliveries of a subscription; no effect if it is not paused. If its endpoint was being probed, probing
 * continues.
 */
export async function resumeWebhookSubscription(
  writes: Writes,
  request: ResumeWebhookSubscriptionRequest,
  context: HandlerContext,
) {
  const replayed = await writes.findReplay<typeof ResumeWebhookSubscriptionResponseSchema>(request, context);
  if (replayed) return replayed;
  const { subscriptionId } = request;
  await writes.begin(request, context, async (tx) => {
    await lockSubscriptions(tx);
    const subscription = await lockSubscription(tx, subscriptionId);
    subscription.pausedAt = null;
  });
  await moveOpenDeliveries(writes, request, context, RELEASE);
  return writes.finish<typeof ResumeWebhookSubscriptionResponseSchema>(request, context, async (tx) => ({
    subscription: storedSubscriptionMessage(await readSubscription(tx, subscriptionId)),
  }));
}
