import type { Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import { PROBE_INTERVAL_MS } from '../subscriptions/subscription.ts';
import type { DeliveryReader } from './delivery-reader.ts';
import type { LaneReadingDeps } from './lane-reading.ts';
import type { OpenAttempts } from './open-attempts.ts';
import type { LaneSubscription, SubscriptionCache } from './subscription-cache.ts';
import { laneKey } from './table-reads.ts';

const LOCK_HOLDING: Statement = {
  name: 'lock_holding',
  text: 'select from webhooks.subscription where id = any (:ids::uuid[]) order by id for no key update',
};

const END_HOLDING: Statement = {
  name: 'end_holding',
  text: `
update webhooks.subscription s set holding = false, probe_at = null
 where id = any (:ids::uuid[]) and holding and paused_at is null
   and not exists (select from webhooks.open_delivery d where d.subscription_id = s.id and d.status = 'HELD')`,
};

export interface HeldDeliveriesDeps
  extends Pick<LaneReadingDeps, 'db' | 'leases' | 'dispatcher' | 'reports' | 'reads' | 'logger'> {
  readonly attempts: OpenAttempts;
}

/**
 * Sends held deliveries that are due: one every five seconds while their subscription is being probed, otherwise as
 * many as its limits allow.
 */
export class HeldDeliveries {
  readonly #deps: HeldDeliveriesDeps;
  /** When each probed subscription may send its next held delivery, by `performance.now()`, until then. */
  readonly #probeAtMs = new Map<string, number>();
  /** Runs concurrently with reads, so that they do not wait for its row locks. */
  #ending: Promise<void> | undefined;

  constructor(deps: HeldDeliveriesDeps) {
    this.#deps = deps;
  }

  async send(reader: DeliveryReader, subscriptions: SubscriptionCache): Promise<void> {
    const { reads, attempts, reports, dispatcher } = this.#deps;
    const nowMs = performance.now();
    for (const [id, atMs] of this.#probeAtMs) if (atMs <= nowMs) this.#probeAtMs.delete(id);
    const limits = this.#limitsOf(subscriptions.held());
    if (limits.size === 0) return;
    using read = reads.begin();
    const unrecorded = [...attempts.ids, ...reports.setAsideIds];
    const found = await reader.readHeld(limits, unrecorded);
    const recovered: string[] = [];
    for (const [id, { held, due }] of found) {
      const subscription = subscriptions.get(id);
      if (!subscription) continue;
      if (!held) recovered.push(id);
      const isOwned = read.isCurrent(laneKey(subscription.lane));
      const current = due.filter((delivery) => isOwned && read.isCurrent(delivery.id));
      if (current.length > 0) this.#probeAtMs.set(id, performance.now() + PROBE_INTERVAL_MS);
      dispatcher.sendHeld(subscription, current);
    }
    if (recovered.length === 0) return;
    this.#ending ??= this.#endHolding(recovered).finally(() => {
      this.#ending = undefined;
    });
  }

  /** Resolves once no change of a subscription is in progress. */
  async close(): Promise<void> {
    await this.#ending;
  }

  /** How many deliveries of each subscription may be sent. */
  #limitsOf(holding: readonly LaneSubscription[]): Map<string, number> {
    const { leases, dispatcher } = this.#deps;
    const limits = new Map<string, number>();
    for (const subscription of holding) {
      if (subscription.paused || leases.epochOf(subscription.lane) === undefined) continue;
      const capacity = dispatcher.heldCapacity(subscription);
      if (capacity === 0 || !this.#isProbeDue(subscription)) continue;
      limits.set(subscription.id, subscription.probeAtMs === null ? capacity : 1);
    }
    return limits;
  }

  #isProbeDue({ id, probeAtMs }: LaneSubscription): boolean {
    if (probeAtMs === null) return true;
    return performance.now() >= Math.max(probeAtMs, this.#probeAtMs.get(id) ?? 0);
  }

  /** While the subscriptions are locked, no delivery becomes HELD: reports and pauses lock them too. */
  async #endHolding(ids: readonly string[]): Promise<void> {
    const end = async (run: Run) => {
      await run(LOCK_HOLDING, { ids });
      await run(END_HOLDING, { ids });
    };
    await this.#deps.db.transaction(end).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error }, 'could not release subscriptions; trying again');
    });
  }
}
