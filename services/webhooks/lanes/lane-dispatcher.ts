import type { CommittedDelivery, CommittedEvent } from '../../platform/outbox/outbox-events.ts';
import type { Handover } from '../../platform/outbox/outbox-signal.ts';
import { idTimeMs } from '../id-time.ts';
import type { QueuedDelivery } from './delivery-reader.ts';
import { LANE_COUNT, type LaneLeases } from './lane-leases.ts';
import type { OpenAttempts } from './open-attempts.ts';
import { RoundRobin } from './round-robin.ts';
import { type LaneSubscription, maySend } from './subscription-cache.ts';
import { attemptsOf, readyLimit, SubscriptionQueue } from './subscription-queue.ts';
import { laneKey, type TableRead, type TableReads } from './table-reads.ts';

export interface LaneDispatcherDeps {
  readonly leases: Pick<LaneLeases, 'epochOf' | 'isConfirmed'>;
  readonly attempts: OpenAttempts;
  readonly reads: TableReads;
  readonly subscriptionOf: (id: string) => LaneSubscription | undefined;
  /** The wait before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: Readonly<Record<QueuedDelivery['environment'], number>>;
  /** Called when a subscription has capacity for deliveries that are still in the table. */
  readonly onNeedsMore: (subscriptionId: string) => void;
}

/**
 * Starts the attempts of this process's lanes, round robin: one delivery of each subscription at a time, as far as
 * their limits and the capacity of the process allow. It owns the deliveries in memory, in a queue per subscription.
 *
 * - It takes a delivery only if the result of the read is still current, and while its queue has capacity. All others are
 *   left in the table, and `onNeedsMore` asks for them once there is capacity.
 * - A subscription that cannot send loses its turn. Whatever removes the obstacle gives it a turn again: a new delivery,
 *   the end of an attempt, a timer for its rate, or a change of the subscription or its lane, after which its deliveries
 *   are read again.
 * - While the lease is not confirmed or the process has as many attempts as it may, subscriptions keep their turns: every
 *   read ends with `pump`.
 */
export class LaneDispatcher {
  readonly #deps: LaneDispatcherDeps;
  readonly #queues = new Map<string, SubscriptionQueue>();
  readonly #turns = new RoundRobin({
    start: (id) => this.#startNext(id),
    isFull: () => this.#deps.attempts.isFull,
    onLater: () => this.pump(),
  });
  readonly #readyLimit = () => readyLimit(this.#queues.size);

  constructor(deps: LaneDispatcherDeps) {
    this.#deps = deps;
  }

  /** Subscriptions whose new deliveries are left in the table, because memory is full or others are left there. */
  get full(): string[] {
    return [...this.#queues].filter(([, queue]) => !queue.takesNew).map(([id]) => id);
  }

  /** The longest that a subscription which could send has been waiting, in milliseconds. */
  get lagMs(): number {
    return this.#turns.longestWaitMs;
  }

  get subscriptionIds(): string[] {
    return [...this.#queues.keys()];
  }

  hasQueue(subscriptionId: string): boolean {
    return this.#queues.has(subscriptionId);
  }

  queueOf(subscriptionId: string): SubscriptionQueue {
    let queue = this.#queues.get(subscriptionId);
    if (!queue) {
      queue = new SubscriptionQueue(this.#readyLimit);
      this.#queues.set(subscriptionId, queue);
    }
    return queue;
  }

  /**
   * Adds deliveries that were read, as far as memory allows, and starts the attempts that may start. The others stay in
   * the table and are read later.
   */
  add(deliveries: readonly QueuedDelivery[], isCurrent: TableRead['isCurrent']): void {
    for (const delivery of deliveries) {
      if (!isCurrent(delivery.id, attemptsOf(delivery)) || !isCurrent(delivery.subscription_id)) continue;
      if (!isCurrent(laneKey(delivery.lane))) continue;
      const queue = this.queueOf(delivery.subscription_id);
      if (!queue.reserve(delivery)) continue;
      const waitMs = firstWaitMs(delivery, this.#deps.firstWaits[delivery.environment]);
      if (waitMs <= 0) this.#enqueue(queue, delivery);
      else this.#enqueueLater(queue, delivery, waitMs);
    }
    this.pump();
  }

  /**
   * Takes the deliveries that this process publishes, as they commit. Counts as a read that began before the
   * publication, so changes in the meantime outdate it.
   */
  takeCommitted(): Handover {
    const { reads, attempts } = this.#deps;
    const read = reads.begin();
    return {
      take: (events) => events.map((event) => this.#takeEvent(read, event)).every(Boolean),
      get isDelivering() {
        return !attempts.isEmpty;
      },
      end: () => read[Symbol.dispose](),
    };
  }

  /** Reads the deliveries of these subscriptions again: the change may have canceled or held some. */
  changed(subscriptionIds: Iterable<string>): void {
    for (const id of subscriptionIds) {
      const queue = this.#queues.get(id);
      if (!queue) continue;
      queue.restart();
      this.#deps.reads.outdate(id);
      this.#deps.onNeedsMore(id);
    }
  }

  /** Forgets the deliveries of lost lanes whose attempt has not begun. */
  dropLost(): void {
    const { leases, reads } = this.#deps;
    // The new owner of a lane may have delivered what a read returns. A lane that is taken again is read again.
    for (let lane = 0; lane < LANE_COUNT; lane += 1) {
      if (leases.epochOf(lane) === undefined) reads.outdate(laneKey(lane));
    }
    for (const [id, queue] of this.#queues) {
      const lane = this.#deps.subscriptionOf(id)?.lane;
      if (lane !== undefined && this.#deps.leases.epochOf(lane) !== undefined) continue;
      queue.clear();
      this.#turns.remove(id);
    }
  }

  /**
   * Forgets subscriptions that have had no deliveries for a while, and the deliveries of disabled ones: canceling those is
   * no change that is read here. Call it once the changes of subscriptions have been read.
   */
  dropIdle(): void {
    for (const [id, queue] of this.#queues) {
      if (queue.isIdle) this.#queues.delete(id);
      // It stays until the next call: if it was reactivated meanwhile, `changed` finds it, and reads its deliveries again.
      else if (this.#deps.subscriptionOf(id)?.state === 'DISABLED') queue.clear();
    }
  }

  /** Starts the attempts that may start. */
  pump(): void {
    if (!this.#deps.leases.isConfirmed) return;
    this.#turns.run();
  }

  /** Sends held deliveries, which are not queued: one as a probe, or all once their subscription has recovered. */
  sendHeld(subscription: LaneSubscription, due: readonly QueuedDelivery[]): void {
    const queue = this.queueOf(subscription.id);
    for (const delivery of due) {
      // Checked again, because the process may have been paused or have started other attempts since `due` was read.
      if (this.#deps.attempts.isFull || this.heldCapacity(subscription) === 0) return;
      if (!queue.has(delivery.id)) this.#start(subscription, queue, delivery);
    }
  }

  /** How many held deliveries of a subscription may be sent now. */
  heldCapacity(subscription: LaneSubscription): number {
    if (!this.#deps.leases.isConfirmed || !maySend(subscription)) return 0;
    return this.queueOf(subscription.id).limiter.capacity(subscription, performance.now());
  }

  #takeEvent(read: TableRead, event: CommittedEvent): boolean {
    const taken = event.deliveries.flatMap((delivery): QueuedDelivery[] => {
      const subscription = this.#deps.subscriptionOf(delivery.subscriptionId);
      if (!subscription || !this.#mayTake(read, subscription, delivery)) return [];
      return [queuedDelivery(event, delivery, subscription.lane)];
    });
    this.add(taken, read.isCurrent);
    return taken.length === event.deliveries.length;
  }

  /** Refuses deliveries of subscriptions that have older ones left in the table. */
  #mayTake(
    { isCurrent }: TableRead,
    { id, lane, generation }: LaneSubscription,
    delivery: CommittedDelivery,
  ): boolean {
    if (delivery.status !== 'PENDING' || generation < delivery.generation) return false;
    if (this.#deps.leases.epochOf(lane) === undefined || !isCurrent(laneKey(lane)) || !isCurrent(id))
      return false;
    return this.queueOf(id).takesNew;
  }

  #enqueue(queue: SubscriptionQueue, delivery: QueuedDelivery): void {
    queue.push(delivery);
    this.#turns.add(delivery.subscription_id);
  }

  #enqueueLater(queue: SubscriptionQueue, delivery: QueuedDelivery, waitMs: number): void {
    queue.delay(delivery.id);
    setTimeout(() => {
      if (!queue.endDelay(delivery.id)) return;
      this.#enqueue(queue, delivery);
      this.pump();
    }, waitMs).unref();
  }

  /** @returns false if the subscription has nothing to send or may not send now. */
  #startNext(id: string): boolean {
    const { subscriptionOf, leases } = this.#deps;
    const queue = this.#queues.get(id);
    const subscription = subscriptionOf(id);
    if (!queue?.hasReady || !subscription) return false;
    if (leases.epochOf(subscription.lane) === undefined || !maySend(subscription)) return false;
    const nowMs = performance.now();
    if (queue.limiter.capacity(subscription, nowMs) < 1) {
      const waitMs = queue.limiter.waitForRateMs(subscription, nowMs);
      if (waitMs !== undefined) this.#turns.addLater(id, waitMs);
      return false;
    }
    const delivery = queue.shift()!;
    this.#start(subscription, queue, delivery);
    if (queue.needsMore) this.#deps.onNeedsMore(id);
    return true;
  }

  #start(subscription: LaneSubscription, queue: SubscriptionQueue, delivery: QueuedDelivery): void {
    this.#deps.attempts.start(subscription, queue, delivery, () => this.#freed(subscription.id, queue));
  }

  #freed(id: string, queue: SubscriptionQueue): void {
    if (queue.hasReady) this.#turns.add(id);
    else if (queue.needsMore) this.#deps.onNeedsMore(id);
    else if (queue.isIdle) this.#queues.delete(id);
    this.pump();
  }
}

const queuedDelivery = (
  { merchantId, environment, id: eventId, objectId, body }: CommittedEvent,
  { id, subscriptionId, generation, ordered }: CommittedDelivery,
  lane: number,
): QueuedDelivery => ({
  id,
  environment,
  lane,
  generation,
  ordered,
  body,
  merchant_id: merchantId,
  subscription_id: subscriptionId,
  event_id: eventId,
  object_id: objectId,
  status: 'PENDING',
  attempt_count: 0,
  resent: false,
});

/** How long until the first attempt of a delivery is due, in milliseconds; 0 or less for a later or resent one. */
function firstWaitMs({ id, attempt_count, resent }: QueuedDelivery, waitMs: number): number {
  if (waitMs === 0 || attempt_count > 0 || resent) return 0;
  // Never longer than the wait, even if the clock that made the id was ahead.
  return Math.min(idTimeMs(id) + waitMs - Date.now(), waitMs);
}
