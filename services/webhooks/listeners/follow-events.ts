import { create } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  type FollowEventsRequest,
  type FollowEventsResponse,
  GetEventFeedRequestSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { getEventFeed } from '../events/get-event-feed.ts';

/** Streams the merchant's events from the event feed, starting now. */
export async function* followEvents(
  dependencies: Parameters<typeof getEventFeed>[0],
  { merchantId, environment, eventTypes }: FollowEventsRequest,
  context: HandlerContext,
): AsyncGenerator<FollowEventsResponse> {
  const feed = create(GetEventFeedRequestSchema, {
    merchantId,
    environment,
    eventTypes,
    start: { case: 'publishedFrom', value: timestampNow() },
  });
  for await (const { event } of getEventFeed(dependencies, feed, context)) {
    yield { $typeName: 'payments.webhooks.v1.FollowEventsResponse', ...(event && { event }) };
  }
}
