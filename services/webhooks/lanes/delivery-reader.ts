import { NIL } from 'uuid';
import type { Run } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { FIND_SUBSCRIPTIONS, READ_CHANGED, READ_HELD, READ_WAITING } from './read-deliveries.sql.ts';

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

/** A delivery as it is read; it has no body if the event is missing. */
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
  /** It has read all changes up to here in the order of (xid, id), except those of transactions in progress. */
  #last: { readonly xid: string; readonly id: string };
  /** Earlier transactions that were in progress; the next page reads them, too. */
  #inProgress: readonly string[];
  /** Transactions that the pages since the start of this read found in progress: the next read starts with them. */
  readonly #foundInProgress = new Set<string>();
  /** Deliveries whose event is missing, and when they were last read. */
  readonly #withoutEvent = new Map<string, number>();

  /** Creates a reader of everything that changes after a snapshot. */
  constructor(run: Run, seen: Snapshot) {
    this.#run = run;
    this.#last = { xid: seen.next, id: NIL };
    this.#inProgress = seen.inProgress;
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
    const { xid: afterXid, id: afterId } = this.#last;
    const parameters = { afterXid, afterId, inProgress: this.#inProgress, lanes, full, limit: PAGE };
    const rows = await this.#run<ChangedRow>(READ_CHANGED, parameters);
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

  /** @param last of a page that is not the last one; after that, the next read begins beyond the snapshot. */
  #advance(seen: Snapshot, last: { readonly xid: string; readonly id: string } | undefined): void {
    for (const xid of seen.inProgress) this.#foundInProgress.add(xid);
    this.#last = last ? { xid: last.xid, id: last.id } : { xid: seen.next, id: NIL };
    this.#inProgress = last ? [] : [...this.#foundInProgress];
    if (!last) this.#foundInProgress.clear();
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
