import { BATCH_LEASE_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { goesTo } from '../deliveries/ordered-deliveries.ts';
import { IS_LIMITED } from './attempt-limits.ts';
import { type BatchIds, type ClaimedDelivery, claimedAsJson } from './claimed-delivery.ts';
import { MAX_EVENTS, MAX_IN_FLIGHT, MAX_SLOW, MIN_SHARE } from './dispatch-limits.ts';
import { hasLimits, inFlightOf, WAITING } from './subscription-load.sql.ts';
import { lockSubscriptions, type OrderedObjectRow, unblockDeliveries } from './unblock-deliveries.ts';

/**
 * Moves committed events from the outbox to the log and adds a delivery for each matching subscription. The body to sign
 * and send is composed here, once. A concurrent disable or pause waits for the key share lock, or is visible to it. Times
 * are truncated to milliseconds: rounded up, a delivery that is due now would wait. An event's delivery to an ordered
 * subscription is BLOCKED while an earlier event of its object is open or in the outbox, even if this statement or a
 * concurrent one is moving that event.
 */
export const FAN_OUT: Statement = {
  name: 'fan_out',
  text: `
with taken as (
  delete from platform.outbox_event
   where id = any (array(
     select id from platform.outbox_event order by id limit ${MAX_EVENTS} for update skip locked))
  returning *
), logged as (
  insert into webhooks.event
    (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
  select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at,
         '{"id":"' || id || '","type":' || to_json(type)
         || ',"timestamp":"' || to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
         || '","environment":"' || environment || '","requestId":' || to_json(request_id)
         || ',"sequence":' || sequence || ',"data":' || data || '}'
    from taken
), enabled as materialized (
  select s.*
    from (select distinct merchant_id, environment from taken) t
   cross join lateral (
     select s.merchant_id, s.environment, s.id, s.state, s.event_types, s.enabled_at, s.ordered, s.paused_at
       from webhooks.subscription s
      where s.merchant_id = t.merchant_id and s.environment = t.environment and s.state <> 'DISABLED'
        for key share
   ) s
), matched as (
  select t.*, s.id as subscription_id, s.ordered, s.paused_at,
         case when s.ordered then exists (
           select from webhooks.open_delivery d
            where d.ordered and d.subscription_id = s.id and d.object_id = t.object_id and d.sequence < t.sequence
         ) or exists (
           select from platform.outbox_event e
            where e.merchant_id = t.merchant_id and e.environment = t.environment
              and e.object_id = t.object_id and e.sequence < t.sequence and ${goesTo('e', 's')}
         ) end as waits
    from taken t
    join enabled s on s.merchant_id = t.merchant_id and s.environment = t.environment and ${goesTo('t', 's')}
), delivery as materialized (
  select m.*, uuidv7() as delivery_id,
         case when waits then 'BLOCKED' when paused_at is not null then 'HELD' else 'PENDING' end as status,
         date_trunc('milliseconds', now())
           + case environment when 'live' then :liveWaitMs::float8 else :testWaitMs::float8 end * interval '1 ms' as next_attempt_at
    from matched m order by id, subscription_id
), target as materialized (
  select fresh.id, ${MAX_IN_FLIGHT} - in_flight.total as capacity
    from (select distinct subscription_id as id from delivery
           where status = 'PENDING' and next_attempt_at <= now() and :max::integer > 0) fresh
   cross join lateral ${inFlightOf('fresh.id')}
   where in_flight.slow < ${MAX_SLOW} and not ${hasLimits('fresh.id')}
     and not exists (select from ${WAITING} and subscription_id = fresh.id)
), direct as materialized (
  select delivery_id from (
    select d.delivery_id, target.capacity,
           row_number() over (partition by d.subscription_id order by d.delivery_id) as rank
      from delivery d join target on target.id = d.subscription_id
     where d.status = 'PENDING'
  ) d
   where rank <= least(capacity, greatest(${MIN_SHARE}, ceil(:max::numeric / (select count(*) from target))))
   order by rank, delivery_id limit :max
), added as (
  insert into webhooks.open_delivery
    (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
     status, attempt_count, next_attempt_at, batch_id, leased_to, in_flight_since, in_flight_until)
  select merchant_id, environment, delivery_id, subscription_id, id, type, object_id, sequence, request_id, ordered,
         status, 0, next_attempt_at, c.batch_id, c.leased_to, c.in_flight_since, c.in_flight_until
    from delivery
    left join lateral (
      select case environment when 'live' then :liveBatchId::uuid else :testBatchId::uuid end as batch_id, :caller as leased_to,
             now() as in_flight_since, now() + interval '${BATCH_LEASE_MS} ms' as in_flight_until
       where delivery_id in (select direct.delivery_id from direct)
    ) c on true
   order by delivery_id
  returning merchant_id, environment, id, subscription_id, object_id, event_type, request_id, status, batch_id
), claimed as (
  select * from added where batch_id is not null
), stored as (
  insert into webhooks.batch as batch (id, leased_until, delivery_ids)
  select batch_id, now() + interval '${BATCH_LEASE_MS} ms', array_agg(id order by id)
    from claimed group by batch_id
  on conflict (id) do update set delivery_ids = batch.delivery_ids || excluded.delivery_ids
)
select (select count(*)::integer from taken) as events, ${claimedAsJson('claimed')} as claimed,
       (select coalesce(json_agg(added), '[]') from added where status = 'BLOCKED') as blocked,
       exists (select from ${WAITING}) or exists (
         select from added where status = 'PENDING' and subscription_id not in (select subscription_id from claimed)
       ) as waits,
       exists (select from webhooks.subscription s where ${IS_LIMITED}) as limited`,
};

interface FannedOut {
  readonly events: number;
  readonly claimed: readonly ClaimedDelivery[];
  readonly blocked: readonly OrderedObjectRow[];
  readonly waits: boolean;
  readonly limited: boolean;
}

export interface FanOutTerms {
  /** The wait before the first attempt of a delivery, in milliseconds. */
  readonly firstWaits: Readonly<Record<EnvironmentName, number>>;
  /** The caller that claimed deliveries are leased to. */
  readonly caller: string;
  /** The most deliveries to claim. */
  readonly max: number;
  readonly batchIds: BatchIds;
}

/**
 * Turns committed events into deliveries, and claims at once those whose subscription has capacity and nothing waiting.
 * BLOCKED deliveries are checked again once their subscriptions are locked, which shows what concurrent transactions ended
 * or added.
 * @returns `anyWaiting`: there is more to claim, apart from new deliveries of subscriptions that got their share;
 *   `moreEvents`: it moved as many events as it may, so there may be more; `anyLimited`: some subscriptions have limits.
 */
export async function fanOut(db: CrossTenantDatabase, { firstWaits, caller, max, batchIds }: FanOutTerms) {
  const [fanned] = await db.run<FannedOut>(FAN_OUT, {
    liveWaitMs: firstWaits.live,
    testWaitMs: firstWaits.test,
    caller,
    max,
    liveBatchId: batchIds.live,
    testBatchId: batchIds.test,
  });
  const { events, claimed, blocked, waits, limited } = fanned!;
  if (blocked.length > 0) {
    await db.transaction(async (run) => {
      await lockSubscriptions(run, blocked);
      await unblockDeliveries(run, blocked);
    });
  }
  return {
    claimed,
    anyWaiting: waits || blocked.length > 0,
    anyLimited: limited,
    moreEvents: events === MAX_EVENTS,
  };
}
