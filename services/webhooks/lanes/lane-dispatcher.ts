import { idTimeMs } from '../id-time.ts';
import type { QueuedDelivery } from './delivery-reader.ts';
import { LANES, type LaneLeases } from './lane-leases.ts';
import type { OpenAttempts } from './open-attempts.ts';
import type { LaneSubscription } from './subscription-cache.ts';
import { SubscriptionQueue } from './subscription-queue.ts';
import { laneKey, type TableLooks } from './table-looks.ts';

export interface LaneDispatcherDeps {
  readonly leases: Pick<LaneLeases, 'epochOf' | 'isConfirmed'>;
  readonly attempts: OpenAttempts;
  readonly looks: TableLooks;
  readonly subscriptionOf: (id: string) => LaneSubscription | undefined;
  /** The wait before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: Readonly<Record<QueuedDelivery['environment'], number>>;
  /** Called when a subscription has capacity for deliveries that are still in the table. */
  readonly onNeedsMore: (subscriptionId: string) => void;
}

/**
 * Has the attempts of the lanes of this process made: goes round the subscriptions that have deliveries ready, one of each
 * at a time, as far as their limits and the capacity of the process allow.
 */
export class LaneDispatcher {
  readonly #deps: LaneDispatcherDeps;
  readonly #queues = new Map<string, SubscriptionQueue>();
  /** Subscriptions with deliveries ready that may start now, as far as is known, and since when, in the order of their turns. */
  readonly #turns = new Map<string, number>();
  /** When a subscription gets its next turn, if it has to wait for it, by `performance.now()`. */
  readonly #laterAtMs = new Map<string, number>();
  #stopped = false;

  constructor(deps: LaneDispatcherDeps) {
    this.#deps = deps;
  }

  /** Subscriptions with as many deliveries in memory as fit. */
  get full(): string[] {
    return [...this.#queues].filter(([, queue]) => queue.isFull || queue.hasMore).map(([id]) => id);
  }

  /** How long a subscription with deliveries ready, whose limits let it send, has waited for its turn, in milliseconds. */
  get lagMs(): number {
    return this.#turns.size === 0 ? 0 : performance.now() - Math.min(...this.#turns.values());
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
      queue = new SubscriptionQueue();
      this.#queues.set(subscriptionId, queue);
    }
    return queue;
  }

  /** Adds deliveries that were read, and starts what may start. */
  add(deliveries: readonly QueuedDelivery[], isCurrent: (id: string) => boolean): void {
    for (const delivery of deliveries) {
      if (!isCurrent(delivery.id) || !isCurrent(delivery.subscription_id)) continue;
      if (!isCurrent(laneKey(delivery.lane))) continue;
      const queue = this.queueOf(delivery.subscription_id);
      if (!queue.reserve(delivery.id)) continue;
      const waitMs = this.#firstWaitMs(delivery);
      if (waitMs <= 0) this.#enqueue(queue, delivery);
      else this.#enqueueLater(queue, delivery, waitMs);
    }
    this.pump();
  }

  /** Reads what waits for these subscriptions again: with the change, deliveries may have been canceled or held. */
  changed(subscriptionIds: Iterable<string>): void {
    for (const id of subscriptionIds) {
      const queue = this.#queues.get(id);
      if (!queue) continue;
      queue.clear();
      this.#deps.looks.outdate(id);
      this.#deps.onNeedsMore(id);
    }
  }

  /** Forgets what has not begun of lanes that another process owns. */
  dropLost(): void {
    const { leases, looks } = this.#deps;
    // What a look returns of a lane that was lost meanwhile may have been delivered by its owner. Taken again, it is read anew.
    for (let lane = 0; lane < LANES; lane += 1) {
      if (leases.epochOf(lane) === undefined) looks.outdate(laneKey(lane));
    }
    for (const [id, queue] of this.#queues) {
      const lane = this.#deps.subscriptionOf(id)?.lane;
      if (lane !== undefined && this.#deps.leases.epochOf(lane) !== undefined) continue;
      queue.clear();
      queue.hasMore = false;
      this.#turns.delete(id);
      if (queue.isIdle) this.#queues.delete(id);
    }
  }

  /** Starts what may start. */
  pump(): void {
    const { leases, attempts } = this.#deps;
    if (this.#stopped || !leases.isConfirmed) return;
    let progress = true;
    while (progress && !attempts.isFull) {
      progress = false;
      for (const id of this.#turns.keys()) {
        if (attempts.isFull) return;
        if (this.#startNext(id)) {
          progress = true;
          this.#turns.set(id, performance.now());
        } else this.#turns.delete(id);
      }
    }
  }

  /** Sends held deliveries, which are not queued: as a probe, or because their subscription has recovered. */
  sendHeld(subscription: LaneSubscription, due: readonly QueuedDelivery[]): void {
    const queue = this.queueOf(subscription.id);
    for (const delivery of due) {
      if (queue.has(delivery.id) || this.#deps.attempts.isFull) continue;
      this.#start(subscription, queue, delivery);
    }
  }

  /** How many held deliveries of a subscription may be sent now. */
  heldCapacity(subscription: LaneSubscription): number {
    if (this.#stopped || !this.#deps.leases.isConfirmed || !this.#mayStart(subscription)) return 0;
    return this.queueOf(subscription.id).capacity(subscription, performance.now());
  }

  /** Starts no more attempts. */
  stop(): void {
    this.#stopped = true;
  }

  #enqueue(queue: SubscriptionQueue, delivery: QueuedDelivery): void {
    queue.push(delivery);
    this.#addTurn(delivery.subscription_id);
  }

  #enqueueLater(queue: SubscriptionQueue, delivery: QueuedDelivery, waitMs: number): void {
    queue.delay(delivery.id);
    setTimeout(() => {
      if (!queue.endDelay(delivery.id)) return;
      this.#enqueue(queue, delivery);
      this.pump();
    }, waitMs).unref();
  }

  #firstWaitMs({ id, environment, attempt_count, resent }: QueuedDelivery): number {
    const waitMs = attempt_count === 0 && !resent ? this.#deps.firstWaits[environment] : 0;
    // No longer, whatever the clock said that made the id.
    return waitMs > 0 ? Math.min(idTimeMs(id) + waitMs - Date.now(), waitMs) : 0;
  }

  #startNext(id: string): boolean {
    const { subscriptionOf, leases } = this.#deps;
    const queue = this.#queues.get(id);
    const subscription = subscriptionOf(id);
    if (!queue || queue.isEmpty || !subscription) return false;
    if (leases.epochOf(subscription.lane) === undefined || !this.#mayStart(subscription)) return false;
    const nowMs = performance.now();
    if (queue.capacity(subscription, nowMs) < 1) {
      const waitMs = queue.waitForRateMs(subscription, nowMs);
      if (waitMs !== undefined) this.#later(id, waitMs);
      return false;
    }
    const delivery = queue.shift()!;
    this.#start(subscription, queue, delivery);
    if (queue.needsMore) this.#deps.onNeedsMore(id);
    return true;
  }

  #mayStart(subscription: LaneSubscription): boolean {
    if (subscription.state === 'DISABLED' || subscription.paused) return false;
    return subscription.secretsAt(Date.now()).length > 0;
  }

  /** One timer at a time for each subscription, unless the next turn comes earlier. */
  #later(id: string, waitMs: number): void {
    const atMs = performance.now() + waitMs;
    if ((this.#laterAtMs.get(id) ?? Number.POSITIVE_INFINITY) <= atMs) return;
    this.#laterAtMs.set(id, atMs);
    setTimeout(() => {
      if (this.#laterAtMs.get(id) === atMs) this.#laterAtMs.delete(id);
      this.#addTurn(id);
      this.pump();
    }, Math.ceil(waitMs)).unref();
  }

  #addTurn(id: string): void {
    if (!this.#turns.has(id)) this.#turns.set(id, performance.now());
  }

  #start(subscription: LaneSubscription, queue: SubscriptionQueue, delivery: QueuedDelivery): void {
    this.#deps.attempts.start(subscription, queue, delivery, () => this.#freed(subscription.id, queue));
  }

  #freed(id: string, queue: SubscriptionQueue): void {
    if (!queue.isEmpty) this.#addTurn(id);
    else if (queue.needsMore) this.#deps.onNeedsMore(id);
    else if (queue.isIdle) this.#queues.delete(id);
    this.pump();
  }
}
