import { NIL } from 'uuid';
import type {
  Event,
  GetEventFeedRequest,
  ListEventFeedRequest,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { type MerchantFilter, merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { ENVIRONMENTS } from '../../platform/tenant.ts';
import { firstIdFrom, idTimeMs } from '../id-time.ts';
import { eventMessage } from './event.message.ts';
import {
  type EmptyWindowRow,
  type FeedEventRow,
  type FeedPosition,
  selectFeedStart,
  selectFeedWindow,
} from './event-feed.queries.ts';
import {
  type FeedCursor,
  formatCursor,
  invalidCursor,
  parseCursor,
  readUntil,
  requireKept,
} from './event-feed-cursor.ts';
import { requireEventTypes } from './event-types/event-catalog.ts';

/** The number of events that one statement visits. */
const WINDOW = 200;
const BEGINNING: FeedPosition = { xid: '0', id: NIL };
/** An event may be logged this long after it was published, and so after later ones. */
const LATE_MS = 60 * 60_000;

/** Which events of the feed to read; undefined filters are ignored. */
type FeedFilter = MerchantFilter & { readonly types: readonly string[] | undefined };

/** What to read: a filter, and the cursor or the position to start from. */
interface FeedRead {
  readonly filter: FeedFilter;
  readonly position: FeedCursor | FeedPosition;
}

/** An event of the feed, and the cursor after it. */
export interface FeedEvent {
  readonly event: Event;
  readonly cursor: string;
}

/** The events of a window. */
interface FeedPage {
  readonly events: readonly FeedEvent[];
  /**
   * After the last event of the window. Never the horizon: after a crash, PostgreSQL assigns the ids of transactions that
   * had not committed again.
   */
  readonly next: FeedCursor;
  /** False at the end of the feed. */
  readonly hasMore: boolean;
}

/** The filter and the start of a request. INVALID_ARGUMENT (INVALID_EVENT_TYPE, INVALID_EVENT_CURSOR). */
export async function parseFeedRequest(
  database: Database,
  request: ListEventFeedRequest | GetEventFeedRequest,
): Promise<FeedRead> {
  const { eventTypes, start } = request;
  const [, merchant] = parseAll(
    () => requireEventTypes(eventTypes),
    () => merchantFilterOf(request),
    () => start.case === 'cursor' && parseCursor(start.value),
  );
  const types = eventTypes.length === 0 ? undefined : eventTypes;
  const filter = { ...merchant, types };
  return { filter, position: await startOf(database, filter, start) };
}

async function startOf(
  database: Database,
  { environment }: FeedFilter,
  start: ListEventFeedRequest['start'],
): Promise<FeedCursor | FeedPosition> {
  switch (start.case) {
    case 'cursor':
      return parseCursor(start.value);
    case 'publishedFrom': {
      const [position] = await database.read(
        selectFeedStart({ environment, fromId: firstIdFrom(start.value) }),
      );
      return position ?? BEGINNING;
    }
    case undefined:
      return BEGINNING;
    default:
      return start satisfies never;
  }
}

/**
 * Reads the next window. INVALID_ARGUMENT (INVALID_EVENT_CURSOR) for a position that the database has yet to reach,
 * OUT_OF_RANGE (EVENT_CURSOR_EXPIRED) for a cursor behind the events that are kept.
 */
export async function readFeed(database: Database, { filter, position }: FeedRead): Promise<FeedPage> {
  const window = { ...filter, afterXid: position.xid, afterId: position.id, limit: WINDOW };
  const rows = await database.read(selectFeedWindow(window));
  const { horizon, read_at_ms, live_kept_from_ms: live, test_kept_from_ms: test } = rows[0]!;
  // The cursor is from another database, as after a restore into a new cluster, whose events have other positions.
  if (BigInt(position.xid) >= BigInt(horizon)) throw invalidCursor('is not a cursor of this database');
  let cursor: FeedCursor = { readUntilMs: { live, test }, ...position };
  const environments = filter.environment ? [filter.environment] : ENVIRONMENTS;
  requireKept(cursor, { live, test }, environments);
  const events: FeedEvent[] = [];
  const visited = rows.filter(isEvent);
  for (const { logged_xid: xid, data, ...row } of visited) {
    cursor = { xid, id: row.id, readUntilMs: readUntil(cursor.readUntilMs, idTimeMs(row.id)) };
    if (data !== null) events.push({ event: eventMessage({ ...row, data }), cursor: formatCursor(cursor) });
  }
  if (visited.length === WINDOW) return { events, next: cursor, hasMore: true };
  const readUntilMs = readUntil(cursor.readUntilMs, read_at_ms - LATE_MS, environments);
  return { events, next: { ...cursor, readUntilMs }, hasMore: false };
}

const isEvent = (row: FeedEventRow | EmptyWindowRow): row is FeedEventRow => row.logged_xid !== null;
