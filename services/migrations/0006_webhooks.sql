-- Webhooks: subscriptions and their signing secrets, the log of events, deliveries and their attempts, what dispatch
-- needs to hand out each delivery once, and resends.
--
-- An event moves from platform.outbox_event to webhooks.event, with an open delivery for each matching subscription.
-- Dispatch works on webhooks.open_delivery, which stays small whatever the history: a delivery that ends moves to
-- webhooks.ended_delivery. Events, ended deliveries and attempts are partitioned by environment and by the time in
-- their UUIDv7 (weeks of live, days of test), so that retention drops partitions instead of deleting rows.
create schema webhooks;

create table webhooks.subscription (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  url text not null check (char_length(url) <= 2048 and url like 'https://%'),
  -- The url without the final dot of its host.
  unique_url text not null,
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  state text not null check (state in ('PENDING', 'ACTIVE', 'ERROR', 'DISABLED')),
  -- Incremented by disabling: the outcome of an attempt of an earlier generation no longer changes the state.
  generation bigint not null check (generation >= 1),
  created_at timestamptz(3) not null,
  -- When it was created or last reactivated: it receives the events from then on.
  enabled_at timestamptz(3) not null,
  disabled_at timestamptz(3),
  -- Why it is in ERROR or was disabled by a 410: SubscriptionError of subscription.ts, without its time.
  error jsonb check (error->>'cause' in ('DELIVERY_EXHAUSTED', 'DELIVERY_EXPIRED', 'GONE')),
  error_at timestamptz(3),
  -- Whether it has HELD deliveries. While it is probed, probe_at is when the next of them goes out alone; null while
  -- all may go out.
  holding boolean not null,
  probe_at timestamptz(3),
  -- Deliveries of one object go out one after the other, in the order of its events.
  ordered boolean not null,
  -- While operations have paused it: all its deliveries are HELD, or BLOCKED behind a held one.
  paused_at timestamptz(3),
  -- Limits set for this subscription; null for the service's own limits.
  max_concurrent_attempts integer check (max_concurrent_attempts >= 1),
  max_attempts_per_second integer check (max_attempts_per_second >= 1),
  primary key (merchant_id, environment, id),
  -- One subscription per URL, disabled ones included.
  constraint subscription_url unique (merchant_id, environment, unique_url),
  constraint disabled_has_time check ((state = 'DISABLED') = (disabled_at is not null)),
  constraint error_is_complete check ((error is null) = (error_at is null)),
  constraint error_state_has_error check (state <> 'ERROR' or error_at is not null),
  constraint active_has_no_error check (state <> 'ACTIVE' or error_at is null),
  constraint only_holding_is_probed check (holding or probe_at is null),
  constraint paused_is_holding check (paused_at is null or holding)
);

-- The list of subscriptions, newest first.
create index subscription_newest on webhooks.subscription (merchant_id, environment, created_at desc, id desc);
-- The subscriptions that an event may go to, and how many of them a merchant has.
create index subscription_enabled on webhooks.subscription (merchant_id, environment) where state <> 'DISABLED';
-- Dispatch releases held deliveries, across tenants.
create index subscription_holding on webhooks.subscription (id) where holding;
-- The few subscriptions with limits, which each claim looks up, across tenants.
create index subscription_limited on webhooks.subscription (id)
  where max_concurrent_attempts is not null or max_attempts_per_second is not null;

-- Attempts that a subscription with a rate may start, as of counted_at. Its lock serializes claims of the subscription.
create table webhooks.attempt_budget (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  subscription_id uuid not null,
  remaining double precision not null,
  counted_at timestamptz not null,
  -- By subscription alone: dispatch works across tenants.
  primary key (subscription_id),
  foreign key (merchant_id, environment, subscription_id) references webhooks.subscription on delete cascade
);

create table webhooks.signing_secret (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  subscription_id uuid not null,
  -- The version in WEBHOOK_SECRET_KEYS of the key that sealed it.
  key_id smallint not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  -- Null for the current secret. An older one signs too until then.
  expires_at timestamptz(3),
  revealed_at timestamptz(3),
  -- A hash of the caller and idempotency key that revealed it, so that the call can be repeated.
  revealed_with bytea,
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, subscription_id) references webhooks.subscription,
  constraint revelation_is_complete check ((revealed_at is null) = (revealed_with is null))
);
comment on column webhooks.signing_secret.sealed is
  'AES-256-GCM: nonce, ciphertext and tag, bound to the subscription. services/reencrypt-secrets.ts changes the key.';

-- A subscription has one current secret.
create unique index signing_secret_current on webhooks.signing_secret (merchant_id, environment, subscription_id)
  where expires_at is null;
-- The secrets that sign a delivery.
create index signing_secret_subscription on webhooks.signing_secret (merchant_id, environment, subscription_id);

-- The log of published events.
create table webhooks.event (
  merchant_id uuid not null,
  environment text not null,
  id uuid not null,
  type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  -- What is signed and sent, to the byte.
  body text not null,
  primary key (merchant_id, environment, id)
) partition by list (environment);
comment on table webhooks.event is 'Kept for the retention period; older partitions are dropped.';

create table webhooks.event_live partition of webhooks.event for values in ('live') partition by range (id);
create table webhooks.event_test partition of webhooks.event for values in ('test') partition by range (id);

-- The list of events, newest first, by each of its filters.
create index event_request on webhooks.event (merchant_id, environment, request_id, id);
create index event_object on webhooks.event (merchant_id, environment, object_id, id);
-- Created last, and to stay so: where indexes cost the same, as on partitions without statistics, the planner takes the
-- newest. Dispatch finds an event by its type and id with this one.
create index event_type on webhooks.event (merchant_id, environment, type, id);

-- All events, for reads: logged ones with their body, those in the outbox with their data.
create view webhooks.published_event as
select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, body, null::json as data
  from webhooks.event
union all
select merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, null, data
  from platform.outbox_event;

-- Deliveries that have not ended. A delivery was created at the time in its id; it repeats columns of its event so that
-- dispatch needs no join.
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
  -- The resend that created it.
  resend_id uuid,
  -- It follows the earlier events of its object.
  ordered boolean not null,
  -- PENDING waits for a batch or is in one, RETRYING has a retry workflow, HELD waits until its subscription recovers
  -- or is resumed, BLOCKED waits for an earlier event of its object.
  status text not null check (status in ('PENDING', 'RETRYING', 'HELD', 'BLOCKED')),
  -- Attempts recorded, one in flight included.
  attempt_count integer not null check (attempt_count >= 0),
  next_attempt_at timestamptz(3) not null,
  -- The batch that carries it, or carried it last; null while a retry workflow does.
  batch_id uuid,
  -- The caller that it was handed out to.
  leased_to text,
  -- While it is claimed by a batch or in flight: since when, and until when that counts.
  in_flight_since timestamptz(3),
  in_flight_until timestamptz(3),
  -- When an overdue retry was last handed out again.
  requeued_at timestamptz(3),
  primary key (merchant_id, environment, id),
  -- Dispatch knows deliveries by their id alone.
  constraint open_delivery_id unique (id),
  constraint in_flight_is_complete check ((in_flight_since is null) = (in_flight_until is null)),
  constraint only_ordered_is_blocked check (status <> 'BLOCKED' or ordered)
) with (
  -- A queue: vacuumed by how many rows passed through, not by its size.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
comment on table webhooks.open_delivery is 'A queue: as large as what is under way. Dispatch vacuums it too.';

-- The list of deliveries by subscription; disabling, pausing and resuming walk it in steps.
create index open_delivery_subscription on webhooks.open_delivery (merchant_id, environment, subscription_id, id);
-- Deliveries of an event: the list, and whether a resend has to deliver it again.
create index open_delivery_event on webhooks.open_delivery (merchant_id, environment, event_id);
-- The list of deliveries by a status that few have.
create index open_delivery_troubled on webhooks.open_delivery (merchant_id, environment, status, id)
  where status <> 'PENDING';
-- The list of deliveries by resend; canceling a resend.
create index open_delivery_resend on webhooks.open_delivery (merchant_id, environment, resend_id, id)
  where resend_id is not null;
-- The indexes from here on lead with the subscription, or with a time: dispatch works across tenants.
-- What a subscription has HELD and due, and how many of its retries have a workflow.
create index open_delivery_due on webhooks.open_delivery (subscription_id, status, next_attempt_at)
  where status <> 'PENDING';
-- What waits for a batch, by subscription: new events before resent ones.
create index open_delivery_waiting on webhooks.open_delivery (subscription_id, (resend_id is not null), id)
  where status = 'PENDING' and batch_id is null;
-- What a subscription has in flight, and how much of it is slow.
create index open_delivery_busy on webhooks.open_delivery (subscription_id, in_flight_since) where in_flight_since is not null;
-- Overdue retries, to be handed out again; the metric of the longest overdue.
create index open_delivery_retrying on webhooks.open_delivery (next_attempt_at) where status = 'RETRYING';
-- The first open delivery of an object.
create index open_delivery_ordered on webhooks.open_delivery (subscription_id, object_id, sequence) where ordered;

-- Deliveries that have ended.
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
  -- By id first: dispatch knows deliveries by their id alone, and appending to the end of an index is cheap.
  primary key (id, environment)
) partition by list (environment);
comment on table webhooks.ended_delivery is 'Kept for the retention period; older partitions are dropped.';

create table webhooks.ended_delivery_live partition of webhooks.ended_delivery for values in ('live')
  partition by range (id);
create table webhooks.ended_delivery_test partition of webhooks.ended_delivery for values in ('test')
  partition by range (id);

-- The list of deliveries, newest first: without a filter and by each of its filters. Most deliveries have SUCCEEDED, so
-- only the other states need an index; deliveries of a request or an object are found by their events.
create index ended_delivery_newest on webhooks.ended_delivery (merchant_id, environment, id);
create index ended_delivery_subscription on webhooks.ended_delivery (merchant_id, environment, subscription_id, id);
-- Also whether a resend has to deliver an event again.
create index ended_delivery_event on webhooks.ended_delivery (merchant_id, environment, event_id);
create index ended_delivery_failed on webhooks.ended_delivery (merchant_id, environment, status, id)
  where status <> 'SUCCEEDED';
create index ended_delivery_resend on webhooks.ended_delivery (merchant_id, environment, resend_id, id)
  where resend_id is not null;
create index ended_delivery_type on webhooks.ended_delivery (merchant_id, environment, event_type, id);

-- All deliveries, for reads.
create view webhooks.delivery as
select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
       resend_id, ordered, status, attempt_count, next_attempt_at, null::timestamptz(3) as ended_at, batch_id
  from webhooks.open_delivery
union all
select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
       resend_id, ordered, status, attempt_count, null, ended_at, batch_id
  from webhooks.ended_delivery;

-- Attempts of open and ended deliveries.
create table webhooks.attempt (
  merchant_id uuid not null,
  environment text not null,
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  -- The subscription's generation when the attempt was handed out.
  generation bigint not null,
  started_at timestamptz(3) not null,
  -- By when an attempt in flight has to be reported; later it counts as lost.
  deadline_at timestamptz(3),
  -- Null while it is in flight.
  ended_at timestamptz(3),
  latency_ms integer check (latency_ms >= 0),
  http_status integer,
  failure text check (failure in ('DNS', 'CONNECT_TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'TLS',
    'TIMEOUT', 'EGRESS_DENIED', 'PROTOCOL', 'WORKER_LOST', 'UNREACHABLE', 'PROXY')),
  response_excerpt text,
  primary key (delivery_id, number, environment),
  constraint ended_has_result check ((ended_at is null) = (http_status is null and failure is null)),
  constraint one_result check (http_status is null or failure is null),
  constraint in_flight_has_deadline check (ended_at is not null or deadline_at is not null)
) partition by list (environment);
comment on table webhooks.attempt is 'In the partition of its delivery, and dropped with it.';

create table webhooks.attempt_live partition of webhooks.attempt for values in ('live')
  partition by range (delivery_id);
create table webhooks.attempt_test partition of webhooks.attempt for values in ('test')
  partition by range (delivery_id);

-- Attempts in flight past their deadline, across tenants.
create index attempt_under_way on webhooks.attempt (deadline_at) where ended_at is null;

-- The least UUIDv7 of a time, in milliseconds: ids created from then on are not less.
create function webhooks.first_id(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Creates the missing partitions of an environment between two times, and returns their names. Attaching takes no lock
-- that readers or writers wait for. A name ends with the partition's first day; retention relies on it.
create function webhooks.ensure_partitions(environment text, from_time timestamptz, to_time timestamptz)
  returns setof text language plpgsql as $$
declare
  width constant interval := case environment when 'live' then interval '7 days' else interval '1 day' end;
  -- 2001-01-01 is a Monday.
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

-- The first partitions; maintenance creates the next ones ahead of time.
select webhooks.ensure_partitions('live', now(), now() + interval '14 days');
select webhooks.ensure_partitions('test', now(), now() + interval '3 days');

-- Deliveries of one environment, handed out together. Deleted once the lease has ended and none of them is open.
create table webhooks.batch (
  id uuid primary key,
  leased_until timestamptz(3) not null,
  delivery_ids uuid[] not null
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

-- Batches whose lease has ended.
create index batch_leased_until on webhooks.batch (leased_until);

-- Events to be delivered again: what was selected, how far the resend has come, and its outcome so far.
create table webhooks.resend (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  -- The selection: an event, the events of a request or those of a period.
  event_id uuid,
  event_request_id text,
  period_from timestamptz(3),
  period_to timestamptz(3),
  -- To this subscription, or to all that match.
  subscription_id uuid,
  only_failed boolean not null,
  state text not null check (state in ('RUNNING', 'COMPLETED', 'CANCELED')),
  -- The request that started the resend.
  request_id text not null,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- When its workflow last continued it, or was last started.
  asked_at timestamptz(3) not null,
  -- The position: it continues behind this event and subscription, in the order of both, up to the last event.
  after_event_id uuid not null,
  after_subscription_id uuid not null,
  last_event_id uuid not null,
  expected_count bigint not null,
  made_count bigint not null,
  succeeded_count bigint not null,
  exhausted_count bigint not null,
  canceled_count bigint not null,
  -- Those of its deliveries that are not yet counted as ended.
  open_ids uuid[] not null,
  primary key (merchant_id, environment, id),
  -- Its workflow knows it by its id alone.
  constraint resend_id unique (id),
  constraint one_selection check (num_nonnulls(event_id, event_request_id, period_from) = 1),
  constraint period_is_complete check ((period_from is null) = (period_to is null)),
  constraint period_has_subscription check (period_from is null or subscription_id is not null),
  constraint running_has_not_ended check ((state = 'RUNNING') = (ended_at is null)),
  constraint counts_add_up
    check (made_count = succeeded_count + exhausted_count + canceled_count + cardinality(open_ids)),
  constraint ended_has_none_open check (state = 'RUNNING' or cardinality(open_ids) = 0)
);

-- The list of resends by state, and how many of a merchant run.
create index resend_state on webhooks.resend (merchant_id, environment, state, id);
-- Resends whose workflow was lost, across tenants.
create index resend_running on webhooks.resend (asked_at) where state = 'RUNNING';
