import { NIL } from 'uuid';
import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { SENDABLE, waitingSubscriptions } from './waiting.sql.ts';

/** A delivery whose next attempt may be made, with the body to send. */
export interface QueuedDelivery {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly lane: number;
  readonly subscription_id: string;
  /** The generation of the subscription when the delivery was read. */
  readonly generation: bigint;
  readonly event_id: string;
  readonly object_id: string;
  readonly status: 'PENDING' | 'RETRYING' | 'HELD';
  readonly attempt_count: number;
  /** Whether a resend created it. */
  readonly resent: boolean;
  readonly ordered: boolean;
  readonly body: string;
}

const COLUMNS = `d.id, d.merchant_id, d.environment, d.lane, d.subscription_id, d.event_id, d.object_id, d.status,
       d.attempt_count, d.resend_id is not null as resent, d.ordered,
       (select s.generation from webhooks.subscription s where s.id = d.subscription_id) as generation`;
/**
 * Reads the index on type and id, which the planner chooses for partitions of any age. Null if the event is missing:
 * the delivery is set aside, but counts as read.
 */
const BODY = `
  left join lateral (
   select body from webhooks.event
    where merchant_id = d.merchant_id and environment = d.environment and type = d.event_type and id = d.event_id
    limit 1
 ) e on true`;

/**
 * Deliveries that were committed since an earlier snapshot, by transactions that were in progress then or began
 * later. Misses none and reads none twice, however long a transaction takes. `coalesce` keeps the planner from the index
 * of waiting deliveries, where it would read all dead rows that a long transaction keeps.
 */
const READ_CHANGED: Statement = {
  name: 'read_changed_deliveries',
  text: `
with changed as materialized (
  select true as late, d.* from webhooks.open_delivery d
   where d.changed_xid = any (:inProgress::xid8[]) and d.lane = any (:lanes::smallint[])
     and coalesce(${SENDABLE} or d.status = 'BLOCKED', false)
  union all
  (select false, d.* from webhooks.open_delivery d
    where (d.changed_xid, d.id) > (:afterXid::xid8, :afterId::uuid)
      and d.changed_xid < pg_snapshot_xmax(pg_current_snapshot()) and d.lane = any (:lanes::smallint[])
      and coalesce(d.status = 'BLOCKED' or ${SENDABLE} and d.subscription_id <> all (:full::uuid[]), false)
    order by d.changed_xid, d.id limit :limit)
)
select now_visible.snapshot, read.*
  from (select pg_current_snapshot()::text as snapshot) now_visible
  left join (select d.late, d.changed_xid::text as xid, ${COLUMNS}, e.body from changed d ${BODY}) read on true`,
};

/** New events before resent ones, the oldest first. */
const READ_WAITING: Statement = {
  name: 'read_waiting_deliveries',
  text: `
select ${COLUMNS}, e.body
  from (select d.* from webhooks.open_delivery d
         where d.lane = :lane and d.subscription_id = :subscriptionId and ${SENDABLE}
           and ((d.resend_id is not null), d.id) > (:afterResent::boolean, :afterId::uuid)
           and d.id <> all (:exclude::uuid[])
         order by (d.resend_id is not null), d.id limit :limit) d ${BODY}`,
};

/** The subscriptions of lanes that have deliveries to send, found by index jumps. */
const FIND_SUBSCRIPTIONS: Statement = {
  name: 'find_waiting_subscriptions',
  text: `
with recursive ${waitingSubscriptions('unnest(:lanes::smallint[])')}
select subscription_id as id from waiting
 union
select s.id from webhooks.subscription s where s.holding and s.lane = any (:lanes::smallint[])`,
};

/** The held deliveries of each subscription that are due, up to its limit; `held` says whether it has any at all. */
const READ_HELD: Statement = {
  name: 'read_held_deliveries',
  text: `
select input.id as of, exists (
         select from webhooks.open_delivery where subscription_id = input.id and status = 'HELD') as held,
       due.*
  from unnest(:ids::uuid[], :limits::int[]) as input (id, max_rows)
  left join lateral (
    select ${COLUMNS}, e.body
      from (select d.* from webhooks.open_delivery d
             where d.subscription_id = input.id and d.status = 'HELD' and d.next_attempt_at <= now()
               and (d.in_flight_until is null or d.in_flight_until < now()) and d.id <> all (:exclude::uuid[])
             order by d.next_attempt_at limit input.max_rows) d ${BODY}
  ) due on true`,
};

/** A row of these statements; it has no body if the event is missing. */
type ReadDelivery = Omit<QueuedDelivery, 'body'> & { readonly body: string | null };

interface ChangedRow extends Omit<ReadDelivery, 'id' | 'status'> {
  readonly snapshot: string;
  /** Whether its transaction was in progress at the last read. */
  readonly late: boolean;
  readonly xid: string | null;
  readonly id: string | null;
  readonly status: QueuedDelivery['status'] | 'BLOCKED';
}

interface HeldRow extends Omit<ReadDelivery, 'id'> {
  readonly of: string;
  readonly held: boolean;
  readonly id: string | null;
}

/** The held deliveries of a subscription: whether there are any, and those that are due. */
interface HeldPage {
  readonly held: boolean;
  readonly due: QueuedDelivery[];
}

/** A snapshot: the next transaction id, and the transactions that were in progress. */
export interface Snapshot {
  readonly next: string;
  readonly inProgress: readonly string[];
}

/** How far the reader has come: it has read everything visible before this position in the order of (xid, id). */
interface Position {
  readonly afterXid: string;
  readonly afterId: string;
  /** Earlier transactions that were in progress. */
  readonly inProgress: readonly string[];
}

/** A page of waiting deliveries. */
export interface WaitingPage {
  readonly deliveries: QueuedDelivery[];
  /** The last delivery read; undefined if no more are waiting. */
  readonly last: Pick<QueuedDelivery, 'id' | 'resent'> | undefined;
}

const PAGE = 1_000;
/** How long a delivery whose event is missing is set aside after it was read. */
const WITHOUT_EVENT_MS = 75_000;
/** The maximum number of them to exclude when held deliveries are read. */
const MAX_WITHOUT_EVENT = 1_000;

/**
 * Reads the deliveries of lanes in its own session: those that changed since the last read, and those waiting for a
 * subscription. After a crash, PostgreSQL reuses the ids of transactions that had not committed, so once a statement
 * has failed, a new reader must take over.
 */
export class DeliveryReader {
  readonly #run: Run;
  #position: Position;
  /** Transactions that earlier pages of the same read found in progress. */
  #earlierInProgress: readonly string[] = [];
  /** Deliveries whose event is missing, and when they were last read. */
  readonly #withoutEvent = new Map<string, number>();

  /** Creates a reader of everything that changes after a snapshot. */
  constructor(run: Run, { next, inProgress }: Snapshot) {
    this.#run = run;
    this.#position = { afterXid: next, afterId: NIL, inProgress };
  }

  /** Deliveries that cannot be sent because their event is missing. */
  get withoutEvent(): string[] {
    const sinceMs = performance.now() - WITHOUT_EVENT_MS;
    for (const [id, atMs] of this.#withoutEvent) if (atMs < sinceMs) this.#withoutEvent.delete(id);
    return [...this.#withoutEvent.keys()];
  }

  /**
   * A page of the deliveries that changed since the last call.
   * @param full subscriptions whose deliveries stay in the table for now, except BLOCKED ones, which are never read again.
   */
  async readChanged(lanes: readonly number[], full: readonly string[]) {
    const rows = await this.#run<ChangedRow>(READ_CHANGED, {
      ...this.#position,
      lanes,
      full,
      limit: PAGE,
    });
    const changed = rows.filter(isDelivery);
    const inOrder = changed.filter(({ late }) => !late);
    const hasMore = inOrder.length === PAGE;
    this.#advance(parseSnapshot(rows[0]!.snapshot), hasMore ? inOrder.at(-1) : undefined);
    return {
      deliveries: this.#sendable(
        changed.filter((row): row is typeof row & ReadDelivery => row.status !== 'BLOCKED'),
      ),
      blocked: changed.filter(({ status }) => status === 'BLOCKED'),
      hasMore,
    };
  }

  /**
   * Moves on to the page after `last`, or beyond the snapshot if that was the last page. The next read then starts with the
   * transactions that any of the pages found in progress.
   */
  #advance(seen: Snapshot, last: { readonly xid: string; readonly id: string } | undefined): void {
    const inProgress = [...this.#earlierInProgress, ...seen.inProgress];
    if (last) {
      this.#earlierInProgress = inProgress;
      this.#position = { afterXid: last.xid, afterId: last.id, inProgress: [] };
    } else {
      this.#earlierInProgress = [];
      this.#position = { afterXid: seen.next, afterId: NIL, inProgress: [...new Set(inProgress)] };
    }
  }

  /** The next deliveries to send of a subscription, after the given one, up to a limit. */
  async readWaiting(
    { lane, id: subscriptionId }: { readonly lane: number; readonly id: string },
    after: WaitingPage['last'],
    limit: number,
    exclude: readonly string[],
  ): Promise<WaitingPage> {
    const { id: afterId = NIL, resent: afterResent = false } = after ?? {};
    const rows = await this.#run<ReadDelivery>(READ_WAITING, {
      lane,
      subscriptionId,
      afterResent,
      afterId,
      limit,
      exclude: [...exclude, ...this.withoutEvent],
    });
    return { deliveries: this.#sendable(rows), last: rows.length === limit ? rows.at(-1) : undefined };
  }

  /** The subscriptions of lanes that have deliveries to send or on hold. */
  async findSubscriptions(lanes: readonly number[]): Promise<string[]> {
    const rows = await this.#run<{ id: string }>(FIND_SUBSCRIPTIONS, { lanes });
    return rows.map(({ id }) => id);
  }

  /**
   * The held deliveries that are due, by subscription. @param limits the maximum number to read of each subscription.
   */
  async readHeld(
    limits: ReadonlyMap<string, number>,
    exclude: readonly string[],
  ): Promise<Map<string, HeldPage>> {
    const rows = await this.#run<HeldRow>(READ_HELD, {
      ids: [...limits.keys()],
      limits: [...limits.values()],
      exclude: [...exclude, ...this.withoutEvent],
    });
    const found = new Map<string, HeldPage>();
    for (const { of, held, ...row } of rows) {
      const entry = found.get(of) ?? { held, due: [] };
      if (row.id !== null) entry.due.push(...this.#sendable([{ ...row, id: row.id }]));
      found.set(of, entry);
    }
    return found;
  }

  #sendable(rows: readonly ReadDelivery[]): QueuedDelivery[] {
    return rows.flatMap(({ body, ...row }) => {
      if (body !== null) return [{ ...row, body }];
      if (this.#withoutEvent.size < MAX_WITHOUT_EVENT || this.#withoutEvent.has(row.id))
        this.#withoutEvent.set(row.id, performance.now());
      return [];
    });
  }
}

/** `xmin:xmax:in,progress`. */
export function parseSnapshot(text: string): Snapshot {
  const [, next, inProgress] = text.split(':');
  return { next: next!, inProgress: inProgress ? inProgress.split(',') : [] };
}

const isDelivery = (row: ChangedRow): row is ChangedRow & { xid: string; id: string } => row.id !== null;
