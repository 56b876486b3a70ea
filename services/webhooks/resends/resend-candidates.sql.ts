import type { ResendRow } from './resend.entity.ts';

/** What statements about candidates take of a resend. */
export function candidateParameters(resend: ResendRow) {
  const { afterEventId, lastEventId, eventRequestId, subscriptionId } = resend;
  return { afterEventId, lastEventId, eventRequestId, subscriptionId };
}

/** Of events in the log or the outbox: those selected that it has not gone through. */
export function isSelected({ eventRequestId }: Pick<ResendRow, 'eventRequestId'>): string {
  const isNext = `merchant_id = :merchantId and environment = :environment
     and id >= :afterEventId and id <= :lastEventId`;
  return eventRequestId === null ? isNext : `${isNext} and request_id = :eventRequestId`;
}

/** Of subscriptions: those that it is for. A ping has no type to subscribe to, so it never goes again. */
export const TARGET = `s.merchant_id = :merchantId and s.environment = :environment
     and s.id = coalesce(:subscriptionId::uuid, s.id) and s.state <> 'DISABLED'`;

/**
 * Whether an event `e` goes again to a subscription `s`. Deliveries are found by their event alone, whatever the planner
 * thinks: of a subscription there may be millions.
 */
export function isWanted({ onlyFailed }: Pick<ResendRow, 'onlyFailed'>): string {
  const of = `d.merchant_id = :merchantId and d.environment = :environment
                   and d.event_id = e.id and d.subscription_id is not distinct from s.id`;
  const isType = 'e.type = any (s.event_types)';
  if (!onlyFailed) return isType;
  return `${isType}
     and not exists (select from webhooks.open_delivery d where ${of})
     and not exists (select from webhooks.ended_delivery d where ${of} and d.status = 'SUCCEEDED')`;
}
