import { LOST_AFTER_MS } from '../../contracts/webhooks/delivery-limits.ts';
import * as retryDelivery from '../../contracts/webhooks/retry-delivery.contract.ts';
import type { Statement } from '../../platform/database/cross-tenant-database.ts';
import { insertCommandsOf } from '../../platform/outbox/outbox.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';
import { endDeliveries } from '../deliveries/end-deliveries.ts';
import { insertErrorNotices } from '../subscriptions/error-notices.sql.ts';
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
  readonly state: SubscriptionState;
  readonly generation: bigint;
  readonly error: SubscriptionError | null;
  readonly error_at: Date | null;
  readonly holding: boolean;
  readonly probe_at: Date | null;
  readonly paused_at: Date | null;
}

export const READ_REPORTED: Statement = {
  name: 'read_reported',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id, d.object_id, d.request_id, d.ordered, d.status,
       d.attempt_count, d.next_attempt_at, d.ended_at, d.in_flight_until,
       case when a.number is null then 'UNKNOWN' when a.ended_at is null then 'UNDER_WAY' else 'ENDED' end as attempt,
       s.state, s.generation, s.error, s.error_at, s.holding, s.probe_at, s.paused_at
  from unnest(:ids::uuid[], :numbers::int[]) as asked (id, number)${DELIVERY_BY_ID}
  join webhooks.subscription s
    on s.merchant_id = d.merchant_id and s.environment = d.environment and s.id = d.subscription_id
  left join lateral (
    select number, ended_at from webhooks.attempt
     where environment = d.environment and delivery_id = d.id and number = asked.number
       and asked.number <= d.attempt_count
     limit 1
  ) a on true`,
};

/** In a fixed order, so that two reports about the same subscriptions do not deadlock. */
export const LOCK_SUBSCRIPTIONS: Statement = {
  name: 'lock_subscriptions',
  text: `
select from (
  select distinct * from unnest(:merchantIds::uuid[], :environments::text[], :subscriptionIds::uuid[]) as asked (merchant_id, environment, id)
   order by id
) asked
 cross join lateral (
   select from webhooks.subscription s
    where s.merchant_id = asked.merchant_id and s.environment = asked.environment and s.id = asked.id
      for no key update
 ) s`,
};

export interface RetryCountRow {
  readonly subscription_id: string;
  readonly retrying: number;
}

export const COUNT_RETRIES: Statement = {
  name: 'count_retries',
  text: `
select subscription_id, count(*)::int as retrying from webhooks.open_delivery
 where subscription_id = any (:subscriptionIds::uuid[]) and status = 'RETRYING'
 group by subscription_id`,
};

/** One report as the statement below takes it. The `known_` columns are the state that the decision was based on. */
export interface RecordRow {
  readonly environment: EnvironmentName;
  readonly delivery_id: string;
  readonly known_status: DeliveryStatusName;
  readonly known_count: number;
  readonly known_in_flight_until: Date | null;
  readonly status: DeliveryStatusName;
  readonly next_attempt_at: Date | null;
  readonly ended_at: Date | null;
  readonly in_flight_until: Date | null;
  readonly number: number;
  readonly generation: string;
  readonly attempt_started_at: Date;
  readonly attempt_deadline_at: Date | null;
  readonly attempt_ended_at: Date | null;
  readonly latency_ms: number | null;
  readonly http_status: number | null;
  readonly failure: string | null;
  readonly response_excerpt: string | null;
  /** Its retry workflow waits longer than necessary, and is signaled. */
  readonly rechecks: boolean;
}

const REPORTS = `
report as (
  select * from json_to_recordset(:rows::json) as r (
    environment text, delivery_id uuid, known_status text, known_count int,
    known_in_flight_until timestamptz, status text, next_attempt_at timestamptz, ended_at timestamptz,
    in_flight_until timestamptz, number int, generation bigint, attempt_started_at timestamptz,
    attempt_deadline_at timestamptz, attempt_ended_at timestamptz, latency_ms int, http_status int, failure text,
    response_excerpt text, rechecks boolean)
)`;

const ATTEMPT_COLUMNS = [
  'number',
  'generation',
  'attempt_started_at',
  'attempt_deadline_at',
  'attempt_ended_at',
  'latency_ms',
  'http_status',
  'failure',
  'response_excerpt',
];
const ATTEMPT = ATTEMPT_COLUMNS.join(', ');
const REPORTED_ATTEMPT = ATTEMPT_COLUMNS.map((column) => `r.${column}`).join(', ');

const INSERT_ATTEMPTS = `
insert into webhooks.attempt as a
  (merchant_id, environment, delivery_id, number, generation, started_at, deadline_at, ended_at, latency_ms,
   http_status, failure, response_excerpt)`;
/** Two workers may have sent the same attempt: it has the start of the one that reports its end. */
const END_KNOWN_ATTEMPT = `
on conflict (delivery_id, number, environment) do update
   set started_at = excluded.started_at, ended_at = excluded.ended_at, latency_ms = excluded.latency_ms, http_status = excluded.http_status,
       failure = excluded.failure, response_excerpt = excluded.response_excerpt
 where a.ended_at is null
returning delivery_id`;

const AS_KNOWN = `d.id = r.delivery_id and d.status = r.known_status and d.attempt_count = r.known_count`;
const OPEN_AS_KNOWN = `
       d.id = any (:ids::uuid[]) and ${AS_KNOWN} and d.in_flight_until is not distinct from r.known_in_flight_until`;

/** A success as the statement below takes it. */
export interface SuccessRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly generation: string;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly latency_ms: number | null;
  readonly http_status: number | null;
  readonly response_excerpt: string | null;
}

/**
 * Ends deliveries whose attempt succeeded without further consequences: their subscription is ACTIVE, has the generation
 * of the attempt, and holds nothing back. Returns those it ended, and skips all others.
 */
export const RECORD_SUCCESSES: Statement = {
  name: 'record_successes',
  text: `
with report as (
  select * from json_to_recordset(:rows::json) as r (
    delivery_id uuid, number int, generation bigint, started_at timestamptz, ended_at timestamptz, latency_ms int,
    http_status int, response_excerpt text)
), sound as materialized (
  select r.*
    from report r
   cross join lateral (
     select merchant_id, environment, subscription_id from webhooks.open_delivery where id = r.delivery_id limit 1
   ) d
   cross join lateral (
     select from webhooks.subscription
      where merchant_id = d.merchant_id and environment = d.environment and id = d.subscription_id
        and state = 'ACTIVE' and generation = r.generation and not holding
      limit 1
   ) s
), ${endDeliveries(
    `using sound r
   where d.id = any (:ids::uuid[]) and d.id = r.delivery_id and d.attempt_count = r.number - 1 and not d.ordered`,
    {
      status: `'SUCCEEDED'`,
      attemptCount: 'r.number',
      endedAt: 'r.ended_at',
      returning: 'r.generation, r.started_at, r.latency_ms, r.http_status, r.response_excerpt',
    },
  )}
insert into webhooks.attempt
  (merchant_id, environment, delivery_id, number, generation, started_at, ended_at, latency_ms, http_status,
   response_excerpt)
select merchant_id, environment, id, end_count, generation, started_at, end_at, latency_ms, http_status,
       response_excerpt
  from ended
returning delivery_id`,
};

/** Writes open deliveries and attempts; skips, and does not return, those that have changed meanwhile. */
export const RECORD: Statement = {
  name: 'record_attempts',
  text: `
with ${REPORTS}, ${endDeliveries(`using report r where r.ended_at is not null and ${OPEN_AS_KNOWN}`, {
    status: 'r.status',
    attemptCount: 'greatest(d.attempt_count, r.number)',
    endedAt: 'r.ended_at',
    returning: REPORTED_ATTEMPT,
  })}, moved as (
  update webhooks.open_delivery d
     set status = r.status, attempt_count = greatest(d.attempt_count, r.number), next_attempt_at = r.next_attempt_at,
         in_flight_since = case when r.in_flight_until is null then null
                           when r.number < d.attempt_count then d.in_flight_since else r.attempt_started_at end,
         in_flight_until = r.in_flight_until,
         batch_id = case when r.status <> 'RETRYING' then d.batch_id end
    from report r
   where r.ended_at is null and ${OPEN_AS_KNOWN}
  returning d.merchant_id, d.environment, d.id, d.request_id, r.rechecks, ${REPORTED_ATTEMPT}
), signaled as (
  ${insertCommandsOf(retryDelivery.recheckCommand(''), 'moved where rechecks')}
)${INSERT_ATTEMPTS}
select merchant_id, environment, id, ${ATTEMPT} from ended
 union all
select merchant_id, environment, id, ${ATTEMPT} from moved${END_KNOWN_ATTEMPT}`,
};

/** The same for deliveries that had ended before: a late report does not change them. */
export const RECORD_LATE: Statement = {
  name: 'record_late_attempts',
  text: `
with ${REPORTS}, moved as (
  update webhooks.ended_delivery d set attempt_count = greatest(d.attempt_count, r.number)
    from report r
   where d.environment = r.environment and ${AS_KNOWN}
  returning d.merchant_id, d.environment, d.id, ${REPORTED_ATTEMPT}
)${INSERT_ATTEMPTS}
select merchant_id, environment, id, ${ATTEMPT} from moved${END_KNOWN_ATTEMPT}`,
};

/**
 * Stores the health of subscriptions, unless their generation has changed. When one enters ERROR, its merchant's contact is
 * notified.
 */
export const STORE_HEALTH: Statement = {
  name: 'store_health',
  text: `
with stored as (
update webhooks.subscription s
   set state = h.state, error = h.error, error_at = h.error_at, holding = h.holding,
       probe_at = h.probe_at
  from json_to_recordset(:rows::json) as h (
    merchant_id uuid, environment text, id uuid, generation bigint, state text, error jsonb,
    error_at timestamptz, holding boolean, probe_at timestamptz, request_id text)
 where s.merchant_id = h.merchant_id and s.environment = h.environment and s.id = h.id
   and s.generation = h.generation
returning s.merchant_id, s.environment, s.id, s.state, old.state as was, h.request_id
)${insertErrorNotices('stored')}`,
};

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
select delivery_id as id, number, generation, started_at, deadline_at from webhooks.attempt
 where ended_at is null and deadline_at < now() - interval '${LOST_AFTER_MS} ms'
   and (:deliveryIds::uuid[] is null or delivery_id = any (:deliveryIds::uuid[]))
 order by deadline_at limit 100`,
};
