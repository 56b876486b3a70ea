import type {
  ListEventFeedRequest,
  ListEventFeedResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { type FeedEvent, parseFeedRequest, readFeed } from './event-feed.ts';
import { type FeedCursor, formatCursor, parseCursor } from './event-feed-cursor.ts';

const DEFAULT_EVENTS = 50;
/** Bounds the duration of a call whose filters match few events. */
const MAX_WINDOWS = 20;

/** The next events of the feed that match the filters. */
export async function listEventFeed(
  database: Database,
  request: ListEventFeedRequest,
): Promise<ListEventFeedResponse> {
  const maxEvents = request.maxEvents || DEFAULT_EVENTS;
  const events: FeedEvent[] = [];
  let read = await parseFeedRequest(database, request);
  let windows = 0;
  let next: FeedCursor;
  let hasMore: boolean;
  do {
    const page = await readFeed(database, read);
    const added = page.events.slice(0, maxEvents - events.length);
    events.push(...added);
    const isCut = added.length < page.events.length;
    hasMore = isCut || page.hasMore;
    next = isCut ? parseCursor(events.at(-1)!.cursor) : page.next;
    read = { ...read, position: next };
    windows += 1;
  } while (windows < MAX_WINDOWS && hasMore && events.length < maxEvents);
  return {
    $typeName: 'payments.webhooks.v1.ListEventFeedResponse',
    events: events.map(({ event }) => event),
    nextCursor: formatCursor(next),
    hasMore,
  };
}
