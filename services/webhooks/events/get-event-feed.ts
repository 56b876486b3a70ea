import { setTimeout as delay } from 'node:timers/promises';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  GetEventFeedRequest,
  GetEventFeedResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { type FeedEvent, parseFeedRequest, readFeed } from './event-feed.ts';
import { formatCursor } from './event-feed-cursor.ts';

const POLL_MS = 500;
/** Shorter than the idle timeouts of common proxies. */
const KEEP_ALIVE_MS = 15_000;

interface Dependencies {
  readonly database: Database;
  /** Aborted when the services begin to close. */
  readonly stopping: AbortSignal;
}

/** Streams the feed until the caller cancels or the services close. Holds no connection while it waits. */
export async function* getEventFeed(
  { database, stopping }: Dependencies,
  request: GetEventFeedRequest,
  context: HandlerContext,
): AsyncGenerator<GetEventFeedResponse> {
  const signal = AbortSignal.any([context.signal, stopping]);
  const { filter, position: start } = await parseFeedRequest(database, request);
  let position = start;
  // The first message is due at once: it also carries the headers, so that the caller knows the stream is open.
  let messageDueAt = performance.now();
  while (!signal.aborted) {
    const { events, next, hasMore } = await readFeed(database, { filter, position });
    for (const feedEvent of events) {
      if (signal.aborted) return;
      yield feedMessage(feedEvent);
      messageDueAt = performance.now() + KEEP_ALIVE_MS;
    }
    position = next;
    if (signal.aborted) return;
    if (performance.now() >= messageDueAt) {
      yield feedMessage({ cursor: formatCursor(next) });
      messageDueAt = performance.now() + KEEP_ALIVE_MS;
    }
    if (!hasMore) await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

const feedMessage = (message: Partial<FeedEvent> & Pick<FeedEvent, 'cursor'>): GetEventFeedResponse => ({
  $typeName: 'payments.webhooks.v1.GetEventFeedResponse',
  ...message,
});
