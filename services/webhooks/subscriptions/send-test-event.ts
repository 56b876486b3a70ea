import type { HandlerContext } from '@connectrpc/connect';
import type {
  SendTestEventRequest,
  SendTestEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { publishPing } from '../events/ping.event.ts';
import { requireEnabled } from './subscription.ts';
import { readSubscription } from './subscription-store.ts';

/** Has a subscription pinged. One that is paused gets it once it is resumed, one that is disabled meanwhile never. */
export function sendTestEvent(writes: Writes, request: SendTestEventRequest, context: HandlerContext) {
  return writes.run<typeof SendTestEventResponseSchema>(request, context, async (tx) => {
    const subscription = await readSubscription(tx, request.subscriptionId);
    requireEnabled(subscription.state);
    return { eventId: await publishPing(tx, subscription, new Date()) };
  });
}
