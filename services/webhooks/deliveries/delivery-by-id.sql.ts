/**
 * A part of a `from` clause: the delivery `d` of each id in `input`, open or ended, of any merchant. Ended deliveries are
 * read only for ids that are not open, and only from the partition of the id's time.
 */
export const DELIVERY_BY_ID = `
 cross join lateral (
   select o.merchant_id, o.environment, o.id, o.subscription_id, o.event_id, o.event_type, o.object_id, o.request_id,
          o.ordered, o.status, o.attempt_count, o.next_attempt_at, null::timestamptz as ended_at, o.in_flight_until,
          o.requested, o.lane
     from webhooks.open_delivery o where o.id = input.id
   union all
   select e.merchant_id, e.environment, e.id, e.subscription_id, e.event_id, e.event_type, e.object_id, e.request_id,
          e.ordered, e.status, e.attempt_count, null, e.ended_at, null, false,
          webhooks.lane_of(e.subscription_id)
     from webhooks.ended_delivery e where e.id = input.id
   limit 1
 ) d`;
