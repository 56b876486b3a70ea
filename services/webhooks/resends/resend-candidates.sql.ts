import type { ResendRow } from './resend.entity.ts';

/** What a resend selects, and the range of events that it searches. */
type Candidates = Pick<
  ResendRow,
  'afterEventId' | 'lastEventId' | 'eventRequestId' | 'missedFrom' | 'missedBefore' | 'subscriptionId'
>;

/** The parameters of statements about a resend's candidates. */
export function candidateParameters(resend: Candidates) {
  const { afterEventId, lastEventId, eventRequestId, missedFrom, missedBefore, subscriptionId } = resend;
  return { afterEventId, lastEventId, eventRequestId, missedFrom, missedBefore, subscriptionId };
}

/** A condition on events: selected by the resend, and after its position. */
export function isSelected({
  eventRequestId,
  missedFrom,
}: Pick<ResendRow, 'eventRequestId' | 'missedFrom'>): string {
  const isNext = `merchant_id = :merchantId and environment = :environment
     and id >= :afterEventId and id <= :lastEventId`;
  if (missedFrom !== null) return `${isNext} and position >= :missedFrom and position < :missedBefore`;
  return eventRequestId === null ? isNext : `${isNext} and request_id = :eventRequestId`;
}

/** A condition on the resend's target subscriptions. Pings have no type to subscribe to, so they are never resent. */
export const TARGET = `s.merchant_id = :merchantId and s.environment = :environment
     and s.id = coalesce(:subscriptionId::uuid, s.id) and s.state <> 'DISABLED'`;

/**
 * Deliveries `d` of an event `e` to a subscription `s`. `is not distinct from` makes the planner search by event: an
 * index by subscription could find millions of deliveries.
 */
const OF_BOTH = `d.merchant_id = :merchantId and d.environment = :environment
                   and d.event_id = e.id and d.subscription_id is not distinct from s.id`;
const WAS_SENT = `exists (select from webhooks.ended_delivery d where ${OF_BOTH})`;
const IS_OPEN = `exists (select from webhooks.open_delivery d where ${OF_BOTH})`;
const IS_DELIVERED = `exists (select from webhooks.ended_delivery d where ${OF_BOTH} and d.status = 'SUCCEEDED')`;

/** Whether a subscription `s` is subscribed to the type of an event `e`. */
export const IS_TYPE = 'e.type = any (s.event_types)';

/** The outcome of an event `e` at a subscription `s`: OPEN, DELIVERED, FAILED or NEVER_SENT. */
export const OUTCOME = `case when ${IS_OPEN} then 'OPEN' when ${IS_DELIVERED} then 'DELIVERED'
                          when ${WAS_SENT} then 'FAILED' else 'NEVER_SENT' end`;

/** Whether an event `e` is resent to a subscription `s`. */
export function isWanted({
  onlyFailed,
  skipNeverSent,
}: Pick<ResendRow, 'onlyFailed' | 'skipNeverSent'>): string {
  const conditions = [IS_TYPE];
  if (onlyFailed) conditions.push(`not ${IS_OPEN}`, `not ${IS_DELIVERED}`);
  if (skipNeverSent) conditions.push(`(${WAS_SENT} or ${IS_OPEN})`);
  return conditions.join('\n     and ');
}
