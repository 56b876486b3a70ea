import type { CommittedDelivery, CommittedEvent, Taking } from '../../platform/outbox/delivery-handover.ts';
import type { QueuedDelivery } from './delivery-reader.ts';
import type { LaneDispatcher } from './lane-dispatcher.ts';
import type { LaneLeases } from './lane-leases.ts';
import type { LaneSubscription } from './subscription-cache.ts';
import { type Look, laneKey, type TableLooks } from './table-looks.ts';

interface Dependencies {
  readonly leases: Pick<LaneLeases, 'epochOf'>;
  readonly dispatcher: LaneDispatcher;
  readonly looks: TableLooks;
  readonly subscriptionOf: (id: string) => LaneSubscription | undefined;
}

/**
 * Takes the deliveries that this process publishes, as they commit. Counts as a look that began before the
 * publication, so changes in the meantime outdate it.
 */
export function takeCommitted(deps: Dependencies): Taking {
  const look = deps.looks.begin();
  return {
    take: (events) => events.map((event) => takeEvent(deps, look, event)).every(Boolean),
    end: look.end,
  };
}

function takeEvent(deps: Dependencies, look: Look, event: CommittedEvent): boolean {
  const taken = event.deliveries.flatMap((delivery): QueuedDelivery[] => {
    const subscription = deps.subscriptionOf(delivery.subscriptionId);
    if (!subscription || !mayTake(deps, look, subscription, delivery)) return [];
    return [queuedDelivery(event, delivery, subscription.lane)];
  });
  deps.dispatcher.add(taken, look.isCurrent);
  return taken.length === event.deliveries.length;
}

/** Refuses deliveries of subscriptions that have older ones left in the table. */
function mayTake(
  { leases, dispatcher }: Dependencies,
  { isCurrent }: Look,
  { id, lane, generation }: LaneSubscription,
  delivery: CommittedDelivery,
): boolean {
  if (delivery.status !== 'PENDING' || generation < delivery.generation) return false;
  if (leases.epochOf(lane) === undefined || !isCurrent(laneKey(lane)) || !isCurrent(id)) return false;
  const queue = dispatcher.queueOf(id);
  return !queue.isFull && !queue.hasMore;
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
