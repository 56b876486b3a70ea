import { LOST_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';
import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';
import type { SubscriptionError, SubscriptionState } from '../subscriptions/subscription.ts';
import { DELIVERY_BY_ID } from './delivery-by-id.sql.ts';

/** A delivery and its subscription when a report arrives. */
export interface ReportedRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly event_id: string;
  readonly object_id: string;
  readonly request_id: string;
  readonly ordered: boolean;
  readonly status: DeliveryStatusName;
  readonly attempt_count: number;
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
  readonly in_flight_until: Date | null;
  readonly attempt: 'UNKNOWN' | 'UNDER_WAY' | 'ENDED';
  /** The current epoch of the lane. */
  readonly epoch: bigint;
  readonly state: SubscriptionState;
  readonly generation: bigint;
  readonly error: SubscriptionError | null;
  readonly error_at: Date | null;
  readonly holding: boolean;
  readonly probe_at: Date | null;
  readonly paused_at: Date | null;
  /** The number of the subscription's deliveries with a retry workflow; counted for a PENDING delivery only. */
  readonly retrying: number;
}

/**
 * Locks subscriptions and then deliveries, each in a fixed order, so that two reports do not deadlock. Returns the
 * deliveries whose subscription another transaction has locked, without waiting for it: its process may be paused,
 * which would delay the results of all others.
 */
export const LOCK_REPORTED: Statement = {
  name: 'lock_reported',
  text: `
with asked as materialized (
  select id, subscription_id from webhooks.open_delivery where id = any (:ids::uuid[])
), subscription as materialized (
  select s.id
    from (select distinct subscription_id from asked order by subscription_id) asked
   cross join lateral (
     select s.id from webhooks.subscription s where s.id = asked.subscription_id for no key update skip locked
   ) s
), delivery as materialized (
  select d.id from webhooks.open_delivery d
   where d.id = any (:ids::uuid[]) and d.subscription_id in (select id from subscription)
   order by d.id for update
)
select asked.id from asked left join delivery on delivery.id = asked.id
 where delivery.id is null and asked.subscription_id not in (select id from subscription)`,
};

export const READ_REPORTED: Statement = {
  name: 'read_reported',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id, d.object_id, d.request_id, d.ordered, d.status,
       d.attempt_count, d.next_attempt_at, d.ended_at, d.in_flight_until,
       case when a.number is null then 'UNKNOWN' when a.ended_at is null then 'UNDER_WAY' else 'ENDED' end as attempt,
       l.epoch, s.state, s.generation, s.error, s.error_at, s.holding, s.probe_at, s.paused_at,
       case when d.status = 'PENDING' then
         (select count(*) from webhooks.open_delivery where subscription_id = d.subscription_id and status = 'RETRYING')
       else 0 end::int as retrying
  from unnest(:ids::uuid[], :numbers::int[]) as asked (id, number)${DELIVERY_BY_ID}
  join webhooks.subscription s
    on s.merchant_id = d.merchant_id and s.environment = d.environment and s.id = d.subscription_id
  join webhooks.lane l on l.id = d.lane
  left join lateral (
    select number, ended_at from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = asked.number
       and asked.number <= d.attempt_count
     limit 1
  ) a on true`,
};

/** An attempt whose process never reported its end. */
export interface LostRow {
  readonly id: string;
  readonly number: number;
  readonly generation: bigint;
  readonly started_at: Date;
  readonly deadline_at: Date;
}

export const FIND_LOST: Statement = {
  name: 'find_lost',
  text: `
select asked.id, asked.number, asked.generation, asked.started_at, asked.deadline_at
  from (select delivery_id as id, number, generation, started_at, deadline_at from webhooks.attempt
         where ended_at is null and deadline_at < now() - interval '${LOST_AFTER_MS} ms'
           and delivery_id <> all (:exclude::uuid[])
         order by deadline_at) asked${DELIVERY_BY_ID}
 where d.lane = any (:lanes::smallint[])
 limit 100`,
};
