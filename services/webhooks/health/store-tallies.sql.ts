import type { Statement } from '../../platform/database/cross-tenant-database.ts';

/**
 * Adds counts to the slots of subscriptions, and stores whether they are failing. Ignores counts of earlier
 * generations. A period of failing begins with the first failure after a success, and ends with the next success.
 */
export const STORE_TALLIES: Statement = {
  name: 'store_tallies',
  text: `
with counted as (
  insert into webhooks.endpoint_slot as known
    (merchant_id, environment, subscription_id, generation, starts_at, succeeded, failed, latencies)
  select s.merchant_id, s.environment, s.id, r.generation, r.starts_at, r.succeeded, r.failed, r.latencies
    from json_to_recordset(:slots::json) as r (
           subscription_id uuid, generation bigint, starts_at timestamptz, succeeded bigint, failed bigint, latencies bigint[])
    join webhooks.subscription s on s.id = r.subscription_id and s.generation = r.generation
   order by s.id, r.starts_at
  on conflict (merchant_id, environment, subscription_id, generation, starts_at) do update
     set succeeded = known.succeeded + excluded.succeeded, failed = known.failed + excluded.failed,
         latencies = array(select a + b
                             from unnest(known.latencies, excluded.latencies) with ordinality as both_of (a, b, place)
                            order by place)
)
insert into webhooks.endpoint_health as known
  (merchant_id, environment, subscription_id, generation, last_success_at, failing_since, http_status, failure)
select s.merchant_id, s.environment, s.id, r.generation, r.last_success_at, r.failing_since, r.http_status, r.failure
  from json_to_recordset(:healths::json) as r (
         subscription_id uuid, generation bigint, last_success_at timestamptz, failing_since timestamptz,
         http_status int, failure text)
  join webhooks.subscription s on s.id = r.subscription_id and s.generation = r.generation
 order by s.id
on conflict (merchant_id, environment, subscription_id) do update
   set generation = excluded.generation, http_status = excluded.http_status, failure = excluded.failure,
       last_success_at = case when known.generation = excluded.generation
                              then greatest(known.last_success_at, excluded.last_success_at)
                              else excluded.last_success_at end,
       failing_since = case when excluded.failing_since is null or excluded.last_success_at is not null
                              or known.generation <> excluded.generation
                            then excluded.failing_since
                            else coalesce(known.failing_since, excluded.failing_since) end,
       notified_at = case when excluded.failing_since is null or excluded.last_success_at is not null
                            or known.generation <> excluded.generation
                          then null else known.notified_at end`,
};
