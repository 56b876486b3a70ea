import type { ResendRow } from './resend.entity.ts';

/** The parameters of statements about a resend's candidates. */
export function candidateParameters(resend: ResendRow) {
  const { afterEventId, lastEventId, eventRequestId, subscriptionId } = resend;
  return { afterEventId, lastEventId, eventRequestId, subscriptionId };
}

/** A condition on events in the log or the outbox: selected, and after the resend's position. */
export function isSelected({ eventRequestId }: Pick<ResendRow, 'eventRequestId'>): string {
  const isNext = `merchant_id = :merchantId and environment = :environment
     and id >= :afterEventId and id <= :lastEventId`;
  return eventRequestId === null ? isNext : `${isNext} and request_id = :eventRequestId`;
}

/** A condition on the resend's target subscriptions. Pings have no type to subscribe to, so they are never resent. */
export const TARGET = `s.merchant_id = :merchantId and s.environment = :environment
     and s.id = coalesce(:subscriptionId::uuid, s.id) and s.state <> 'DISABLED'`;

/**
 * Whether an event `e` is resent to a subscription `s`. `is not distinct from` keeps the planner from using an index by
 * subscription, which may have millions of deliveries: they are found by their event.
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
