-- As in 0006, but an event reads the subscriptions of its merchant only.
create or replace function webhooks.publish(events json)
  returns table (id uuid, sequence bigint, body text, deliveries json)
language plpgsql as $$
#variable_conflict use_column
declare
  sequences bigint[];
begin
  perform pg_advisory_xact_lock_shared(webhooks.subscriptions_lock(merchant_id, environment))
     from (select distinct merchant_id, environment
             from json_to_recordset(events) as asked (merchant_id uuid, environment text)
            order by merchant_id, environment) tenant;

  with asked as (
    select * from rows from (json_to_recordset(events) as (merchant_id uuid, environment text, object_id text))
      with ordinality as asked (merchant_id, environment, object_id, place)
  ), numbered as (
    insert into webhooks.object_sequence as known (merchant_id, environment, object_id, last_sequence)
    select merchant_id, environment, object_id, count(*) + coalesce((
             select f.after_sequence from webhooks.first_sequence f
              where f.merchant_id = asked.merchant_id and f.environment = asked.environment), 0)
      from asked
     group by merchant_id, environment, object_id order by merchant_id, environment, object_id
    on conflict (merchant_id, environment, object_id)
    do update set last_sequence = known.last_sequence + (
                    select count(*) from asked
                     where asked.merchant_id = known.merchant_id and asked.environment = known.environment
                       and asked.object_id = known.object_id),
                  last_used_on = current_date
    returning merchant_id, environment, object_id, last_sequence
  )
  select array_agg(sequence order by place) into sequences
    from (select place, last_sequence + 1 - row_number() over (
                   partition by merchant_id, environment, object_id order by place desc) as sequence
            from asked join numbered using (merchant_id, environment, object_id)) as placed;

  return query
  with asked as materialized (
    select uuidv7() as id, sequences[place] as sequence, asked.*
      from rows from (json_to_recordset(events) as (
             merchant_id uuid, environment text, type text, object_id text, request_id text,
             occurred_at timestamptz, data json))
             with ordinality as asked (merchant_id, environment, type, object_id, request_id, occurred_at, data, place)
  ), logged as (
    insert into webhooks.event (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body)
    select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at,
           '{"id":"' || id || '","type":' || to_json(type)
           || ',"timestamp":"' || to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
           || '","environment":"' || environment || '","requestId":' || to_json(request_id)
           || ',"sequence":' || sequence || ',"data":' || data || '}'
      from asked order by place
    returning id, body
  ), matched as materialized (
    select e.merchant_id, e.environment, e.id as event_id, e.type as event_type, e.object_id, e.sequence, e.request_id,
           uuidv7() as id, s.id as subscription_id, s.lane, s.generation, s.ordered,
           case when s.ordered and (
                  exists (select from webhooks.open_delivery earlier
                           where earlier.ordered and earlier.subscription_id = s.id
                             and earlier.object_id = e.object_id and earlier.sequence < e.sequence)
                  or exists (select from asked earlier
                              where earlier.merchant_id = e.merchant_id and earlier.environment = e.environment
                                and earlier.object_id = e.object_id and earlier.place < e.place
                                and earlier.type = any (s.event_types)))
                then 'BLOCKED' when s.paused_at is not null then 'HELD' else 'PENDING' end as status
      from asked e
     cross join lateral (
       -- The offset keeps this from becoming a join, whose plan may read the subscriptions of all merchants.
       select * from webhooks.subscription
        where merchant_id = e.merchant_id and environment = e.environment and state <> 'DISABLED' offset 0) s
     where case when e.type = 'webhook.ping.v1' then s.id::text = e.object_id else e.type = any (s.event_types) end
     order by e.place, s.id
  ), added as (
    -- Times are truncated to milliseconds: rounded up, a delivery that is due now would wait.
    insert into webhooks.open_delivery
      (merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
       ordered, status, attempt_count, next_attempt_at)
    select merchant_id, environment, id, subscription_id, lane, event_id, event_type, object_id, sequence, request_id,
           ordered, status, 0, date_trunc('milliseconds', now())
      from matched
  ), listed as (
    select event_id, json_agg(json_build_array(id, subscription_id, generation, ordered, status)) as deliveries
      from matched group by event_id
  )
  select asked.id, asked.sequence, logged.body, coalesce(listed.deliveries, '[]')
    from asked join logged on logged.id = asked.id left join listed on listed.event_id = asked.id
   order by asked.place;
end $$;
