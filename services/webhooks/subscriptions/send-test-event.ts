import type { HandlerContext } from '@connectrpc/connect';
import type {
  SendTestEventRequest,
  SendTestEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishPing } from '../events/ping.event.ts';
import { requireEnabled } from './subscription.ts';
import { readSubscription } from './subscription-store.ts';

/** Publishes a ping for a subscription. If it is paused, the ping is sent once it is resumed. */
export function sendTestEvent(writes: Writes, request: SendTestEventRequest, context: HandlerContext) {
  return writes.run<typeof SendTestEventResponseSchema>(request, context, async (tx) => {
    const subscription = await readSubscription(tx, request.subscriptionId);
    requireEnabled(subscription.state);
    return { eventId: await publishPing(tx, subscription, new Date()) };
  });
}
