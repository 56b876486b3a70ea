import type { Statement } from '../../platform/database/cross-tenant-database.ts';

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

/** The columns of a delivery, apart from the body. */
const COLUMNS = `d.id, d.merchant_id, d.environment, d.lane, d.subscription_id, d.event_id, d.object_id, d.status,
       d.attempt_count, d.resend_id is not null as resent, d.ordered,
       (select s.generation from webhooks.subscription s where s.id = d.subscription_id) as generation`;
/**
 * Reads the index on type and id, which the planner chooses for partitions of any age. Null if the event is missing:
 * the delivery is set aside, but counts as read.
 */
const BODY = `
  left join lateral (
   select body from webhooks.event
    where merchant_id = d.merchant_id and environment = d.environment and type = d.event_type and id = d.event_id
    limit 1
 ) e on true`;

/**
 * Deliveries that were committed since an earlier snapshot, by transactions that were in progress then or began
 * later. Misses none and reads none twice, however long a transaction takes. `coalesce` keeps the planner from the index
 * of waiting deliveries, where it would read all dead rows that a long transaction keeps.
 */
export const READ_CHANGED: Statement = {
  name: 'read_changed_deliveries',
  text: `
with changed as materialized (
  select true as late, d.* from webhooks.open_delivery d
   where d.changed_xid = any (:inProgress::xid8[]) and d.lane = any (:lanes::smallint[])
     and coalesce(${SENDABLE} or d.status = 'BLOCKED', false)
  union all
  (select false, d.* from webhooks.open_delivery d
    where (d.changed_xid, d.id) > (:afterXid::xid8, :afterId::uuid)
      and d.changed_xid < pg_snapshot_xmax(pg_current_snapshot()) and d.lane = any (:lanes::smallint[])
      and coalesce(d.status = 'BLOCKED' or ${SENDABLE} and d.subscription_id <> all (:full::uuid[]), false)
    order by d.changed_xid, d.id limit :limit)
)
select now_visible.snapshot, read.*
  from (select pg_current_snapshot()::text as snapshot) now_visible
  left join (select d.late, d.changed_xid::text as xid, ${COLUMNS}, e.body from changed d ${BODY}) read on true`,
};

/** New events before resent ones, the oldest first. */
export const READ_WAITING: Statement = {
  name: 'read_waiting_deliveries',
  text: `
select ${COLUMNS}, e.body
  from (select d.* from webhooks.open_delivery d
         where d.lane = :lane and d.subscription_id = :subscriptionId and ${SENDABLE}
           and ((d.resend_id is not null), d.id) > (:afterResent::boolean, :afterId::uuid)
           and d.id <> all (:exclude::uuid[])
         order by (d.resend_id is not null), d.id limit :limit) d ${BODY}`,
};

/** The subscriptions of lanes that have deliveries to send, found by index jumps. */
export const FIND_SUBSCRIPTIONS: Statement = {
  name: 'find_waiting_subscriptions',
  text: `
with recursive ${waitingSubscriptions('unnest(:lanes::smallint[])')}
select subscription_id as id from waiting
 union
select s.id from webhooks.subscription s where s.holding and s.lane = any (:lanes::smallint[])`,
};

/** The held deliveries of each subscription that are due, up to its limit; `held` says whether it has any at all. */
export const READ_HELD: Statement = {
  name: 'read_held_deliveries',
  text: `
select input.id as of, exists (
         select from webhooks.open_delivery where subscription_id = input.id and status = 'HELD') as held,
       due.*
  from unnest(:ids::uuid[], :limits::int[]) as input (id, max_rows)
  left join lateral (
    select ${COLUMNS}, e.body
      from (select d.* from webhooks.open_delivery d
             where d.subscription_id = input.id and d.status = 'HELD' and d.next_attempt_at <= now()
               and (d.in_flight_until is null or d.in_flight_until < now()) and d.id <> all (:exclude::uuid[])
             order by d.next_attempt_at limit input.max_rows) d ${BODY}
  ) due on true`,
};
