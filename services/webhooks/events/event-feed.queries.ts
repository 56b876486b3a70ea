import { sql } from 'kysely';
import { NIL } from 'uuid';
import { PING_TYPE } from '../../contracts/webhooks/ping-type.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { EventReadRow } from './event.queries.ts';

/** A position in the feed, after the event with this logged_xid and id. */
export interface FeedPosition {
  /** A transaction id of 64 bits, in decimal. */
  readonly xid: string;
  readonly id: string;
}

/** The next events after a position; undefined filters are ignored. */
interface FeedWindow {
  readonly afterXid: string;
  readonly afterId: string;
  readonly merchantId: string | undefined;
  readonly environment: EnvironmentName | undefined;
  readonly types: readonly string[] | undefined;
  readonly limit: number;
}

/** The columns that all rows of a window share. Times are in milliseconds since 1970. */
interface WindowColumns {
  readonly horizon: string;
  readonly read_at_ms: number;
  /** When the oldest partition begins. */
  readonly live_kept_from_ms: number;
  readonly test_kept_from_ms: number;
}

/** An event of a window. `data` is null when the filters leave it out. */
export interface FeedEventRow extends WindowColumns, Omit<EventReadRow, 'data'> {
  readonly logged_xid: string;
  readonly data: string | null;
}

/** The row of a window without events. */
export interface EmptyWindowRow extends WindowColumns {
  readonly logged_xid: null;
}

const db = queryBuilder<object>();

/**
 * A window of the feed: the events after a position in the order of (logged_xid, id), up to the horizon, which is the
 * oldest transaction that was running when the statement began. Transactions do not commit in the order of their ids, nor
 * of their events' ids. But all transactions before the horizon have ended, and what they have logged is visible, so no
 * event can appear later at a position before it. A long transaction delays the feed, but never makes it skip an event.
 *
 * The window is bounded before its events are filtered, so that a call costs the same however few events match.
 */
export const selectFeedWindow = prepareRead<FeedWindow, FeedEventRow | EmptyWindowRow>((parameters) => {
  const matches = sql.join([sql`event.type <> ${sql.lit(PING_TYPE)}`, ...filters(parameters)], sql` and `);
  return sql<FeedEventRow | EmptyWindowRow>`
with event as materialized (
  select logged_xid, id, merchant_id, environment, type, object_id, sequence, request_id, occurred_at, body
    from webhooks.event
   where (logged_xid, id) > (${parameters('afterXid')}::xid8, ${parameters('afterId')}::uuid)
     and logged_xid < pg_snapshot_xmin(pg_current_snapshot())
     ${inEnvironment(parameters)}
   order by logged_xid, id
   limit ${parameters('limit')}
)
select feed.*, event.logged_xid::text as logged_xid, event.id, event.merchant_id,
       event.environment, event.type, event.object_id, event.sequence, event.request_id, event.occurred_at,
       case when ${matches} then (event.body::json -> 'data')::text end as data
  from (select pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
               floor(extract(epoch from now()) * 1000)::float8 as read_at_ms,
               ${keptFromMs('live')} as live_kept_from_ms, ${keptFromMs('test')} as test_kept_from_ms) feed
  left join event on true
 order by event.logged_xid, event.id`.compile(db);
});

/** When the oldest partition begins, by the first day in its name. Partitions always exist for the next days. */
const keptFromMs = (environment: EnvironmentName) => sql<number>`
(select (extract(epoch from min(to_date(right(c.relname, 8), 'YYYYMMDD'))) * 1000)::float8
   from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = ${sql.lit(`webhooks.event_${environment}`)}::regclass and not i.inhdetachpending)`;

/** Where to start the feed. */
interface FeedStart {
  readonly environment: EnvironmentName | undefined;
  /** The least id of the first event. */
  readonly fromId: string;
}

/**
 * The position before the first event with this id or a greater one or, without such an event, the end of the feed. Both
 * come from one snapshot, so no event can appear between them unseen. No row when no event precedes. Reads the index of
 * the partitions from that id on, up to the first match.
 */
export const selectFeedStart = prepareRead<FeedStart, FeedPosition>((parameters) =>
  sql<FeedPosition>`
with first as (
  select logged_xid, id
    from webhooks.event
   where id >= ${parameters('fromId')}::uuid
     and logged_xid < pg_snapshot_xmin(pg_current_snapshot())
     ${inEnvironment(parameters)}
   order by logged_xid, id
   limit 1
)
select logged_xid::text as xid, id
  from webhooks.event
 where (logged_xid, id) < (
   coalesce((select logged_xid from first), pg_snapshot_xmin(pg_current_snapshot())),
   coalesce((select id from first), ${sql.lit(NIL)}::uuid))
 order by logged_xid desc, id desc
 limit 1`.compile(db),
);

const inEnvironment = (parameters: ReadParameters<Pick<FeedStart, 'environment'>>) =>
  parameters.has('environment') ? sql`and environment = ${parameters('environment')}` : sql``;

function filters(parameters: ReadParameters<FeedWindow>) {
  return [
    ...(parameters.has('merchantId') ? [sql`event.merchant_id = ${parameters('merchantId')}`] : []),
    ...(parameters.has('types') ? [sql`event.type = any (${parameters('types')}::text[])`] : []),
  ];
}
