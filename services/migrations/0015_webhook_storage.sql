-- Deliveries on their way in a small table of their own, which dispatch works on; events, ended deliveries and attempts
-- in partitions by environment and time, so that old data leaves by dropping partitions. Ids are UUIDv7.

-- The first id of a time, in milliseconds: ids from then on are not less.
create function webhooks.first_id(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Makes what is missing of the partitions of an environment between two times, weeks of live and days of sandbox, and
-- answers the names of those it made. Attaching takes no lock that readers or writers wait for.
create function webhooks.ensure_partitions(environment text, from_time timestamptz, to_time timestamptz)
  returns setof text language plpgsql as $$
declare
  width constant interval := case environment when 'live' then interval '7 days' else interval '1 day' end;
  -- A Monday.
  starts timestamptz := date_bin(width, from_time, timestamptz '2001-01-01 00:00:00+00');
  log text;
  parent text;
  partition text;
begin
  while starts <= to_time loop
    foreach log in array array['event', 'ended_delivery', 'attempt'] loop
      parent := log || '_' || environment;
      partition := parent || '_' || to_char(starts at time zone 'UTC', 'YYYYMMDD');
      if to_regclass('webhooks.' || partition) is null then
        execute format('create table webhooks.%I (like webhooks.%I including all)', partition, parent);
        execute format('alter table webhooks.%I attach partition webhooks.%I for values from (%L) to (%L)',
          parent, partition, webhooks.first_id(starts), webhooks.first_id(starts + width));
        return next partition;
      end if;
    end loop;
    starts := starts + width;
  end loop;
end $$;

alter table webhooks.event rename to old_event;
alter table webhooks.old_event rename constraint event_pkey to old_event_pkey;
alter table webhooks.delivery rename to old_delivery;
alter table webhooks.attempt rename to old_attempt;
alter table webhooks.old_attempt rename constraint attempt_pkey to old_attempt_pkey;
drop index webhooks.attempt_under_way;

-- body is sent as it is.
create table webhooks.event (
  merchant_id uuid not null,
  environment text not null,
  id uuid not null,
  type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  body text not null,
  primary key (merchant_id, environment, id)
) partition by list (environment);
create index event_request on webhooks.event (merchant_id, environment, request_id, id);
create index event_object on webhooks.event (merchant_id, environment, object_id, id);
create table webhooks.event_live partition of webhooks.event for values in ('live') partition by range (id);
create table webhooks.event_test partition of webhooks.event for values in ('test') partition by range (id);

-- What has not ended; created_at is the time in its id. What it repeats of its event spares dispatch a join.
create table webhooks.open_delivery (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  -- The resend that made it.
  resend_id uuid,
  -- It goes after the earlier events of its object.
  ordered boolean not null,
  status text not null check (status in ('PENDING', 'RETRYING', 'HELD', 'BLOCKED')),
  -- Attempts that were recorded, one still under way included.
  attempt_count integer not null check (attempt_count >= 0),
  next_attempt_at timestamptz(3) not null,
  -- The batch that carries it, or carried it last; null in a retry workflow.
  batch_id uuid,
  -- Whom it was handed out to.
  leased_to text,
  -- While claimed by a batch or under way: since when, and until when that counts.
  busy_since timestamptz(3),
  busy_until timestamptz(3),
  -- When an overdue retry was last handed out again.
  handed_out_at timestamptz(3),
  primary key (merchant_id, environment, id),
  -- Dispatch knows deliveries by their id alone.
  constraint open_delivery_id unique (id),
  check ((busy_since is null) = (busy_until is null)),
  check (status <> 'BLOCKED' or ordered)
);
create index open_delivery_subscription on webhooks.open_delivery (merchant_id, environment, subscription_id, id);
create index open_delivery_event on webhooks.open_delivery (merchant_id, environment, event_id);
create index open_delivery_troubled on webhooks.open_delivery (merchant_id, environment, status, id)
  where status <> 'PENDING';
create index open_delivery_resend on webhooks.open_delivery (merchant_id, environment, resend_id, id)
  where resend_id is not null;
create index open_delivery_due on webhooks.open_delivery (subscription_id, status, next_attempt_at)
  where status <> 'PENDING';
-- Live events go before what is sent again.
create index open_delivery_waiting on webhooks.open_delivery (subscription_id, (resend_id is not null), id)
  where status = 'PENDING' and batch_id is null;
create index open_delivery_busy on webhooks.open_delivery (subscription_id, busy_since) where busy_since is not null;
create index open_delivery_retrying on webhooks.open_delivery (next_attempt_at) where status = 'RETRYING';
create index open_delivery_ordered on webhooks.open_delivery (subscription_id, object_id, sequence) where ordered;

create table webhooks.ended_delivery (
  merchant_id uuid not null,
  environment text not null,
  id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  resend_id uuid,
  ordered boolean not null,
  status text not null check (status in ('SUCCEEDED', 'EXHAUSTED', 'CANCELED')),
  attempt_count integer not null check (attempt_count >= 0),
  ended_at timestamptz(3) not null,
  batch_id uuid,
  -- Dispatch knows deliveries by their id alone; and what is added at the end of an index is added cheaply.
  primary key (id, environment)
) partition by list (environment);
create index ended_delivery_newest on webhooks.ended_delivery (merchant_id, environment, id);
create index ended_delivery_subscription on webhooks.ended_delivery (merchant_id, environment, subscription_id, id);
create index ended_delivery_event on webhooks.ended_delivery (merchant_id, environment, event_id);
create index ended_delivery_failed on webhooks.ended_delivery (merchant_id, environment, status, id)
  where status <> 'SUCCEEDED';
create index ended_delivery_resend on webhooks.ended_delivery (merchant_id, environment, resend_id, id)
  where resend_id is not null;
create table webhooks.ended_delivery_live partition of webhooks.ended_delivery for values in ('live')
  partition by range (id);
create table webhooks.ended_delivery_test partition of webhooks.ended_delivery for values in ('test')
  partition by range (id);

-- Lies with its delivery. ended_at is null while it is under way.
create table webhooks.attempt (
  merchant_id uuid not null,
  environment text not null,
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  generation bigint not null,
  started_at timestamptz(3) not null,
  deadline_at timestamptz(3),
  ended_at timestamptz(3),
  latency_ms integer check (latency_ms >= 0),
  http_status integer,
  failure text check (failure in ('DNS', 'CONNECT_TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'TLS',
    'TIMEOUT', 'EGRESS_DENIED', 'PROTOCOL', 'WORKER_LOST', 'UNREACHABLE', 'PROXY')),
  response_excerpt text,
  primary key (delivery_id, number, environment),
  check ((ended_at is null) = (http_status is null and failure is null)),
  check (http_status is null or failure is null),
  check (ended_at is not null or deadline_at is not null)
) partition by list (environment);
create index attempt_under_way on webhooks.attempt (deadline_at) where ended_at is null;
create table webhooks.attempt_live partition of webhooks.attempt for values in ('live') partition by range (delivery_id);
create table webhooks.attempt_test partition of webhooks.attempt for values in ('test') partition by range (delivery_id);

select webhooks.ensure_partitions(
         known.environment,
         least(now(), uuid_extract_timestamp((select id from webhooks.old_event order by id limit 1)),
               uuid_extract_timestamp((select id from webhooks.old_delivery order by id limit 1))),
         now() + case known.environment when 'live' then interval '14 days' else interval '3 days' end)
  from (values ('live'), ('test')) as known (environment);

insert into webhooks.event select * from webhooks.old_event;
insert into webhooks.open_delivery
  (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
   status, attempt_count, next_attempt_at, batch_id, leased_to, busy_since, busy_until, handed_out_at)
select d.merchant_id, d.environment, d.id, d.subscription_id, d.event_id, e.type, e.object_id, e.sequence,
       e.request_id, false, d.status, d.attempt_count, d.next_attempt_at, d.batch_id, d.leased_to, d.busy_since,
       d.busy_until, d.handed_out_at
  from webhooks.old_delivery d
  join webhooks.old_event e
    on e.merchant_id = d.merchant_id and e.environment = d.environment and e.id = d.event_id
 where d.ended_at is null;
insert into webhooks.ended_delivery
  (merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id, ordered,
   status, attempt_count, ended_at, batch_id)
select d.merchant_id, d.environment, d.id, d.subscription_id, d.event_id, e.type, e.object_id, e.sequence,
       e.request_id, false, d.status, d.attempt_count, d.ended_at, d.batch_id
  from webhooks.old_delivery d
  join webhooks.old_event e
    on e.merchant_id = d.merchant_id and e.environment = d.environment and e.id = d.event_id
 where d.ended_at is not null;
insert into webhooks.attempt select * from webhooks.old_attempt;
drop table webhooks.old_attempt, webhooks.old_delivery, webhooks.old_event;

-- All deliveries, for reads.
create view webhooks.delivery as
select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
       resend_id, ordered, status, attempt_count, next_attempt_at, null::timestamptz(3) as ended_at, batch_id
  from webhooks.open_delivery
union all
select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
       resend_id, ordered, status, attempt_count, null, ended_at, batch_id
  from webhooks.ended_delivery;

alter table webhooks.subscription
  add column ordered boolean not null default false,
  -- Set while its deliveries are held back: all of them are HELD, or BLOCKED behind such a one.
  add column paused_at timestamptz(3),
  add column max_concurrent_attempts integer check (max_concurrent_attempts >= 1),
  add column max_attempts_per_second integer check (max_attempts_per_second >= 1),
  add check (paused_at is null or holding);

-- Of subscriptions with a rate: attempts that may begin at once, as of a time.
create table webhooks.attempt_budget (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  subscription_id uuid not null,
  remaining double precision not null,
  counted_at timestamptz not null,
  primary key (subscription_id),
  foreign key (merchant_id, environment, subscription_id) references webhooks.subscription on delete cascade
);

-- An ordered subscription asks for the earlier events of an object that are still to be taken; lists go by merchant.
create index outbox_event_object on platform.outbox_event (merchant_id, environment, object_id, sequence);
