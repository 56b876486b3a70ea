import { create } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import {
  type FollowEventsRequest,
  type FollowEventsResponse,
  GetEventFeedRequestSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { getEventFeed } from '../events/get-event-feed.ts';

/** Streams the part of the event feed that is the merchant's, from now on. */
export async function* followEvents(
  dependencies: Parameters<typeof getEventFeed>[0],
  { merchantId, environment, eventTypes }: FollowEventsRequest,
  context: HandlerContext,
): AsyncGenerator<FollowEventsResponse> {
  const feed = create(GetEventFeedRequestSchema, {
    ...{ merchantId, environment, eventTypes },
    start: { case: 'publishedFrom', value: timestampNow() },
  });
  for await (const { event } of getEventFeed(dependencies, feed, context)) {
    yield { $typeName: 'payments.webhooks.v1.FollowEventsResponse', ...(event && { event }) };
  }
}
