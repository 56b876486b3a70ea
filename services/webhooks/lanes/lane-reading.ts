import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type {
  CrossTenantDatabase,
  Session,
  Statement,
} from '../../platform/database/cross-tenant-database.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { Unblocker } from '../deliveries/ordered-deliveries.ts';
import { DeliveryReader, parseSnapshot } from './delivery-reader.ts';
import type { LaneDispatcher } from './lane-dispatcher.ts';
import type { LaneLeases } from './lane-leases.ts';
import type { ReportBuffer } from './report-buffer.ts';
import { longestWaitMs } from './round-robin.ts';
import { type LaneSubscription, SubscriptionCache } from './subscription-cache.ts';
import type { SubscriptionQueue } from './subscription-queue.ts';
import { laneKey, type TableReads } from './table-reads.ts';

const RETRY_MS = 500;
/** The pause before the deliveries of a subscription are read again, when several pages had none to add. */
const READ_AGAIN_MS = 50;

const SNAPSHOT: Statement = {
  name: 'read_snapshot',
  text: 'select pg_current_snapshot()::text as snapshot',
};

export interface LaneReadingDeps {
  readonly db: CrossTenantDatabase;
  readonly keys: KeyRing;
  readonly leases: Pick<LaneLeases, 'lanes' | 'epochOf'>;
  readonly dispatcher: LaneDispatcher;
  readonly reports: Pick<ReportBuffer, 'setAsideIds'>;
  readonly reads: TableReads;
  readonly unblocker: Pick<Unblocker, 'unblock' | 'addLanes'>;
  readonly logger: Logger;
}

/**
 * Reads deliveries for the dispatcher in one session: those waiting in the lanes, then every change. It owns the session,
 * its reader and its cache of subscriptions. A failure of `refresh` or `readNew` ends it; its successor starts over.
 *
 * Every delivery of an owned lane is found by one of two ways: it was waiting when its lane was opened, or it has changed
 * since. What the dispatcher does not take is left in the table, which `readMore` reads until nothing is left.
 */
export class LaneReading {
  readonly reader: DeliveryReader;
  readonly subscriptions: SubscriptionCache;
  readonly #deps: LaneReadingDeps;
  readonly #session: Session;
  /** Since when reading the deliveries of each subscription has failed. */
  readonly #unreadSinceMs = new Map<string, number>();
  /** Lanes whose waiting deliveries have not been read yet. */
  readonly #unopened = new Set<number>();
  #isClosed = false;

  private constructor(deps: LaneReadingDeps, session: Session, snapshot: string) {
    const seen = parseSnapshot(snapshot);
    const { keys, logger } = deps;
    this.#deps = deps;
    this.#session = session;
    this.reader = new DeliveryReader(session.run, seen);
    this.subscriptions = new SubscriptionCache({ run: session.run, keys, logger, seen });
  }

  /** Misses nothing that commits from now on; older deliveries are read lane by lane. */
  static async begin(deps: LaneReadingDeps): Promise<LaneReading> {
    const session = await deps.db.session();
    try {
      const [row] = await session.run<{ snapshot: string }>(SNAPSHOT);
      const reading = new LaneReading(deps, session, row!.snapshot);
      await reading.subscriptions.load(deps.dispatcher.subscriptionIds);
      return reading;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#session.close();
  }

  /** For how long reading the deliveries of any subscription has failed, in milliseconds. */
  get unreadMs(): number {
    return longestWaitMs(this.#unreadSinceMs.values());
  }

  /** Lanes that were taken, or are to be read once more. */
  addLanes(lanes: readonly number[]): void {
    for (const lane of lanes) this.#unopened.add(lane);
  }

  /**
   * Reads the deliveries waiting in lanes that were added, and a page of those that have changed since the last call.
   * It may be due again at once for a long time, which must not delay other periodic work.
   * @returns whether everything that had changed was read, and whether to read again at once: there is more, or
   *   deliveries were unblocked, which is a change.
   */
  async readNew() {
    if (this.#unopened.size > 0) await this.#openLanes();
    return this.#readChangedPage();
  }

  /** Reads the subscriptions that have changed, and the deliveries waiting for them. */
  async refresh(): Promise<void> {
    const { dispatcher } = this.#deps;
    dispatcher.changed(await this.subscriptions.refresh());
    dispatcher.dropIdle();
    this.subscriptions.trim((id) => dispatcher.hasQueue(id));
  }

  /**
   * Reads more deliveries of a subscription: from the last one read to the end, then once more from the start, before
   * it counts as drained.
   */
  async readMore(id: string): Promise<void> {
    const { leases, dispatcher, logger } = this.#deps;
    const subscription = this.subscriptions.get(id);
    const queue = dispatcher.queueOf(id);
    if (this.#isClosed || !subscription) return void this.#unreadSinceMs.delete(id);
    // Nothing is sent to it. Reactivating it is a change, and a lane that is taken again is opened: both read from the start.
    if (subscription.state === 'DISABLED' || leases.epochOf(subscription.lane) === undefined) {
      this.#unreadSinceMs.delete(id);
      return queue.clear();
    }
    if (!queue.startReading()) return;
    try {
      while (queue.hasMore && !queue.isFull && leases.epochOf(subscription.lane) !== undefined) {
        const addedNone = await this.#readPage(subscription, queue);
        // More deliveries are set aside than the query can exclude.
        if (addedNone) await delay(READ_AGAIN_MS);
      }
      this.#unreadSinceMs.delete(id);
    } catch (error) {
      logger.debug({ err: error }, 'could not read waiting deliveries; trying again');
      if (!this.#unreadSinceMs.has(id)) this.#unreadSinceMs.set(id, performance.now());
      setTimeout(() => void this.readMore(id), RETRY_MS).unref();
    } finally {
      queue.endReading();
    }
  }

  async #openLanes(): Promise<void> {
    const lanes = [...this.#unopened];
    // One that is lost and taken again meanwhile is opened again.
    this.#unopened.clear();
    this.#deps.unblocker.addLanes(lanes);
    const ids = await this.reader.findSubscriptions(lanes);
    this.#deps.dispatcher.changed(await this.subscriptions.load(ids));
    for (const id of ids) this.#deps.dispatcher.queueOf(id).readFromStart();
    // How many each takes into memory depends on their number.
    for (const id of ids) void this.readMore(id);
  }

  async #readChangedPage() {
    const { leases, dispatcher, reads, unblocker } = this.#deps;
    using read = reads.begin();
    const { full } = dispatcher;
    const { deliveries, blocked, hasMore } = await this.reader.readChanged(leases.lanes, full);
    await this.subscriptions.loadFor(deliveries);
    for (const id of full) this.#leftInTable(id);
    dispatcher.add(deliveries, read.isCurrent);
    await unblocker.unblock(blocked);
    return { isComplete: !hasMore, isDueAgain: hasMore || blocked.length > 0 };
  }

  /** A subscription with enough deliveries in memory leaves changed ones in the table, to be read from there. */
  #leftInTable(id: string): void {
    const lane = this.subscriptions.get(id)?.lane;
    if (lane === undefined || this.#deps.leases.epochOf(lane) === undefined) return;
    const queue = this.#deps.dispatcher.queueOf(id);
    queue.leftInTable();
    if (queue.needsMore) void this.readMore(id);
  }

  /** @returns whether several pages, read to the end, had no delivery to add. */
  async #readPage(subscription: LaneSubscription, queue: SubscriptionQueue): Promise<boolean> {
    const { reads, reports, dispatcher } = this.#deps;
    using read = reads.begin();
    const after = queue.startPage();
    const { deliveries, last } = await this.reader.readWaiting(
      subscription,
      after,
      queue.pageSize,
      reports.setAsideIds,
    );
    await this.subscriptions.loadFor(deliveries);
    // If the subscription has changed or its lane was lost, it is read from the start again.
    if (!read.isCurrent(subscription.id) || !read.isCurrent(laneKey(subscription.lane))) return false;
    queue.endPage(after, last);
    dispatcher.add(deliveries, read.isCurrent);
    return last === undefined && after !== undefined && !queue.hasAdded;
  }
}
