/** A condition on deliveries `d` that their owner sends. */
export const SENDABLE = `(d.status = 'PENDING' or d.requested)`;

/**
 * A part of a `with recursive` clause: the subscriptions of lanes that have deliveries to send, found by index jumps.
 * @param lanes a relation of lanes.
 */
export const waitingSubscriptions = (lanes: string) => `
waiting (lane, subscription_id) as (
  select lanes.lane, first.subscription_id
    from ${lanes} as lanes (lane)
   cross join lateral (
     select d.subscription_id from webhooks.open_delivery d
      where d.lane = lanes.lane and ${SENDABLE} order by d.subscription_id limit 1) first
  union all
  select waiting.lane, next.subscription_id
    from waiting
   cross join lateral (
     select d.subscription_id from webhooks.open_delivery d
      where d.lane = waiting.lane and d.subscription_id > waiting.subscription_id and ${SENDABLE}
      order by d.subscription_id limit 1) next
)`;
