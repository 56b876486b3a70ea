-- Webhooks: subscriptions and their signing secrets, the log of events, deliveries and their attempts, the lanes that
-- distribute deliveries over processes, and resends.
--
-- A listener is a temporary subscription of the sandbox: a developer's machine holds a connection, and its deliveries go
-- over that connection. They are in no lane, so lane owners neither read nor send them.
--
-- webhooks.publish appends an event to webhooks.event in the transaction of the change that it reports, with an open
-- delivery for each matching subscription. The owners of lanes send what is in webhooks.open_delivery, which stays small
-- whatever the history: a delivery that ends moves to webhooks.ended_delivery. Events, ended deliveries and attempts are
-- partitioned by environment and by the time in their UUIDv7 (weeks of live, days of test), so that retention drops
-- partitions instead of deleting rows.
create schema webhooks;

-- Deliveries are distributed over 64 lanes by their subscription. Each lane has one owner, the only process that sends
-- its deliveries.
create function webhooks.lane_of(subscription_id uuid) returns smallint language sql immutable strict parallel safe
  return (hashtextextended(subscription_id::text, 0) & 63)::smallint;

create table webhooks.subscription (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  -- Of a listener: where its machine forwards deliveries to.
  url text not null check (char_length(url) <= 2048),
  -- The url without the final dot of its host.
  unique_url text not null,
  description text not null default '' check (char_length(description) <= 200),
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  state text not null check (state in ('PENDING', 'ACTIVE', 'ERROR', 'DISABLED')),
  -- Incremented by disabling and by a new url: the outcome of an attempt of an earlier generation no longer changes the
  -- state.
  generation bigint not null check (generation >= 1),
  -- The generation in which it got its url: attempts of earlier ones went to another.
  url_generation bigint not null default 1,
  created_at timestamptz(3) not null,
  disabled_at timestamptz(3),
  -- The position of the first event that it has missed, or will miss.
  disabled_position bigint,
  -- A deleted subscription is DISABLED for good. It is kept because its deliveries are.
  deleted_at timestamptz(3),
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
  -- Of a listener: the process that holds its connection renews it. Maintenance removes listeners that have expired.
  listening_until timestamptz(3),
  -- The lane of its deliveries; -1 for a listener, whose deliveries are in none.
  lane smallint not null
    generated always as (case when listening_until is null then webhooks.lane_of(id) else -1 end) stored,
  -- The transaction that last changed it, or its secrets: lane owners read what has changed.
  changed_xid xid8 not null default pg_current_xact_id(),
  primary key (merchant_id, environment, id),
  -- Lane owners know subscriptions by their id alone.
  constraint subscription_id unique (id),
  constraint disabled_has_time check ((state = 'DISABLED') = (disabled_at is not null)),
  constraint deleted_is_disabled check (deleted_at is null or state = 'DISABLED'),
  constraint disabled_has_position check ((state = 'DISABLED') = (disabled_position is not null)),
  constraint error_is_complete check ((error is null) = (error_at is null)),
  constraint error_state_has_error check (state <> 'ERROR' or error_at is not null),
  constraint active_has_no_error check (state <> 'ACTIVE' or error_at is null),
  constraint only_holding_is_probed check (holding or probe_at is null),
  constraint paused_is_holding check (paused_at is null or holding),
  constraint only_listener_is_without_https check (listening_until is not null or url like 'https://%'),
  constraint listener_is_of_sandbox check (listening_until is null or (environment = 'test' and not ordered))
);

-- One subscription per URL, disabled ones included.
create unique index subscription_url on webhooks.subscription (merchant_id, environment, unique_url)
  where deleted_at is null;
-- The list of subscriptions, newest first.
create index subscription_newest on webhooks.subscription (merchant_id, environment, created_at desc, id desc)
  where deleted_at is null;
-- The subscriptions that an event may go to, and how many of them a merchant has.
create index subscription_enabled on webhooks.subscription (merchant_id, environment) where state <> 'DISABLED';
-- Dispatch releases held deliveries, across tenants.
create index subscription_holding on webhooks.subscription (id) where holding;
-- The metric of subscriptions in ERROR.
create index subscription_error on webhooks.subscription (id) where state = 'ERROR';
-- Maintenance cancels what disabled ones still have open.
create index subscription_disabled on webhooks.subscription (id) where state = 'DISABLED';
-- Maintenance deletes those that were deleted long ago, across tenants.
create index subscription_deleted on webhooks.subscription (deleted_at) where deleted_at is not null;
-- How many listeners a merchant has.
create index subscription_listening on webhooks.subscription (merchant_id, environment, id)
  where listening_until is not null;
-- Maintenance removes listeners that have expired, across tenants.
create index subscription_expired on webhooks.subscription (listening_until) where listening_until is not null;
-- Lane owners read the subscriptions that have changed.
create index subscription_changed on webhooks.subscription (changed_xid);

create function webhooks.note_change() returns trigger language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  if new.url <> old.url then
    new.url_generation := new.generation;
  end if;
  return new;
end $$;

create trigger note_change before update on webhooks.subscription
  for each row execute function webhooks.note_change();

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

create function webhooks.note_secret_change() returns trigger language plpgsql as $$
begin
  update webhooks.subscription s set changed_xid = pg_current_xact_id()
   where s.merchant_id = coalesce(new.merchant_id, old.merchant_id)
     and s.environment = coalesce(new.environment, old.environment)
     and s.id = coalesce(new.subscription_id, old.subscription_id);
  return null;
end $$;

-- Not for a secret that is sealed with another key: its holder locks the secret first, a rotation the subscription.
create trigger note_secret_change after insert or delete or update of expires_at on webhooks.signing_secret
  for each row execute function webhooks.note_secret_change();

-- The last sequence number of each object's events. The row's lock serializes events of one object, so that their
-- numbers have no gaps.
create table webhooks.object_sequence (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  object_id text not null,
  last_sequence bigint not null,
  last_used_on date not null default current_date,
  primary key (merchant_id, environment, object_id)
);
comment on table webhooks.object_sequence is 'Kept for a year after the last event of the object.';

-- Maintenance deletes unused sequences, across tenants.
create index object_sequence_unused on webhooks.object_sequence (last_used_on, merchant_id, environment);

-- Where the sequences of a merchant's new objects begin, once sequences were deleted: after the highest of them, so that
-- the sequence of an object still rises if it has another event after years.
create table webhooks.first_sequence (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  after_sequence bigint not null,
  primary key (merchant_id, environment)
);

-- Orders the events of a merchant and the changes of its subscriptions: webhooks.publish takes the next position while
-- it holds the merchant's lock together with others, a change while it holds it alone.
create sequence webhooks.event_position;

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
  -- What a subscription has missed while it was disabled is a range of positions.
  position bigint not null default nextval('webhooks.event_position'),
  -- The transaction that logged the event: its place in the feed, together with the id.
  logged_xid xid8 not null default pg_current_xact_id(),
  primary key (merchant_id, environment, id)
) partition by list (environment);
comment on table webhooks.event is 'Kept for the retention period; older partitions are dropped.';

create table webhooks.event_live partition of webhooks.event for values in ('live') partition by range (id);
create table webhooks.event_test partition of webhooks.event for values in ('test') partition by range (id);

-- What a subscription missed while it was disabled.
create index event_missed on webhooks.event (merchant_id, environment, position) include (id);
-- The event feed, across merchants.
create index event_feed on webhooks.event (logged_xid, id);
-- The list of events, newest first, by each of its filters.
create index event_request on webhooks.event (merchant_id, environment, request_id, id);
create index event_object on webhooks.event (merchant_id, environment, object_id, id);
-- Created last, and to stay so: where indexes cost the same, as on partitions without statistics, the planner takes the
-- newest. Dispatch finds an event by its type and id with this one.
create index event_type on webhooks.event (merchant_id, environment, type, id);

-- How the attempts of a subscription ended, counted in slots of five minutes. Lane owners add to it every few seconds.
create table webhooks.endpoint_slot (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  subscription_id uuid not null,
  -- The subscription's generation when the attempts began: those of a former url do not count.
  generation bigint not null,
  starts_at timestamptz(0) not null,
  succeeded bigint not null,
  failed bigint not null,
  -- How many responses took no longer than each of LATENCY_BOUNDS_MS (endpoint-latency.ts), and longer than the one before.
  latencies bigint[] not null,
  primary key (merchant_id, environment, subscription_id, generation, starts_at)
);
comment on table webhooks.endpoint_slot is 'Kept for a day.';

-- Maintenance deletes the oldest, across tenants.
create index endpoint_slot_oldest on webhooks.endpoint_slot (starts_at);

-- Whether the last attempts of a subscription failed.
create table webhooks.endpoint_health (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  subscription_id uuid not null,
  -- The subscription's generation when the attempts began; an earlier one says nothing of its endpoint.
  generation bigint not null,
  last_success_at timestamptz(3),
  -- The end of the first failed attempt after the last success; null unless it is failing.
  failing_since timestamptz(3),
  -- How the last attempt failed.
  http_status integer,
  failure text,
  -- When those who manage webhooks were notified of this period of failing.
  notified_at timestamptz(3),
  primary key (merchant_id, environment, subscription_id),
  foreign key (merchant_id, environment, subscription_id) references webhooks.subscription on delete cascade,
  constraint only_failing_has_cause
    check (failing_since is not null or num_nonnulls(http_status, failure, notified_at) = 0)
);

-- Maintenance finds those whose notice is due, across tenants.
create index endpoint_health_failing on webhooks.endpoint_health (failing_since)
  where failing_since is not null and notified_at is null;

-- Deliveries that have not ended. A delivery was created at the time in its id; it repeats columns of its event so that
-- lists need no join.
create table webhooks.open_delivery (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  subscription_id uuid not null,
  -- That of its subscription.
  lane smallint not null check (lane between -1 and 63),
  event_id uuid not null,
  event_type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  -- The resend that created it.
  resend_id uuid,
  -- It follows the earlier events of its object.
  ordered boolean not null,
  -- PENDING is sent by the owner of its lane, RETRYING when its retry workflow requests it, HELD when its subscription
  -- recovers or is resumed, BLOCKED after the earlier events of its object.
  status text not null check (status in ('PENDING', 'RETRYING', 'HELD', 'BLOCKED')),
  -- Its retry workflow has requested the next attempt.
  requested boolean not null default false,
  -- Attempts recorded, one in flight included.
  attempt_count integer not null check (attempt_count >= 0),
  next_attempt_at timestamptz(3) not null,
  -- Until when an attempt that is recorded as in flight counts as such.
  in_flight_until timestamptz(3),
  -- The transaction that created it, or last gave the owner of its lane something to do with it.
  changed_xid xid8 not null default pg_current_xact_id(),
  -- Lane owners know deliveries by their id alone.
  primary key (id),
  constraint only_ordered_is_blocked check (status <> 'BLOCKED' or ordered),
  constraint only_retries_are_requested check (status = 'RETRYING' or not requested)
) with (
  -- A queue: vacuumed by how many rows passed through, not by its size.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
comment on table webhooks.open_delivery is 'A queue: as large as what is under way.';

-- What has changed since a lane owner last looked.
create index open_delivery_changed on webhooks.open_delivery (changed_xid, id);
-- The list of deliveries of a merchant.
create index open_delivery_newest on webhooks.open_delivery (merchant_id, environment, id);
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
-- The indexes from here on lead with a lane, a subscription or a time: lane owners and retention work across merchants.
-- What the owner of a lane sends, by subscription: new events before resent ones.
create index open_delivery_waiting on webhooks.open_delivery (lane, subscription_id, (resend_id is not null), id)
  where status = 'PENDING' or requested;
-- What a subscription has HELD and due, and how many of its retries have a workflow.
create index open_delivery_due on webhooks.open_delivery (subscription_id, status, next_attempt_at)
  where status <> 'PENDING';
-- The metric of the longest overdue retry.
create index open_delivery_retrying on webhooks.open_delivery (next_attempt_at) where status = 'RETRYING';
-- Retention finds deliveries of old events that were created much later, as resends do.
create index open_delivery_resent_event on webhooks.open_delivery (event_id) where resend_id is not null;
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
  -- The workflow that shows it: its retry workflow, or the record of what succeeded in the same second. Null if none does.
  workflow_id text,
  -- The attempt of a delivery that succeeded at once; webhooks.attempt has those of all others.
  started_at timestamptz(3),
  generation bigint,
  latency_ms integer check (latency_ms >= 0),
  http_status integer,
  response_excerpt text,
  -- The webhook-signature header as sent. It is of this one message, and the secret may have been rotated since.
  signature text,
  -- Milliseconds of DNS, the TCP connection, TLS and the wait for the response; null for what did not happen.
  timing_ms integer[],
  -- A line `name: value` for each, without secrets.
  response_headers text check (char_length(response_headers) <= 1024),
  -- By id first: lane owners know deliveries by their id alone, and appending to the end of an index is cheap.
  primary key (id, environment),
  constraint attempt_is_complete check ((started_at is null) = (http_status is null))
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
       resend_id, ordered, status, attempt_count, next_attempt_at, null::timestamptz(3) as ended_at, null as workflow_id
  from webhooks.open_delivery
union all
select merchant_id, environment, id, subscription_id, event_id, event_type, object_id, sequence, request_id,
       resend_id, ordered, status, attempt_count, null, ended_at, workflow_id
  from webhooks.ended_delivery;

-- Attempts of open deliveries, and of ended ones that did not succeed at once.
create table webhooks.attempt (
  merchant_id uuid not null,
  environment text not null,
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  -- The subscription's generation when the attempt began.
  generation bigint not null,
  started_at timestamptz(3) not null,
  -- By when an attempt in flight has to be reported; later it counts as lost.
  deadline_at timestamptz(3),
  -- Null while it is in flight.
  ended_at timestamptz(3),
  latency_ms integer check (latency_ms >= 0),
  http_status integer,
  failure text check (failure in ('DNS', 'DNS_TIMEOUT', 'CONNECT_TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_RESET',
    'UNREACHABLE', 'NOT_TLS', 'CERTIFICATE_SELF_SIGNED', 'CERTIFICATE_WRONG_NAME', 'CERTIFICATE_EXPIRED',
    'CERTIFICATE_NOT_YET_VALID', 'CERTIFICATE_UNKNOWN_ISSUER', 'TLS', 'TLS_TIMEOUT', 'TIMEOUT', 'BODY_TIMEOUT',
    'PROTOCOL', 'EGRESS_DENIED', 'PROXY', 'WORKER_LOST')),
  response_excerpt text,
  -- Where a 3xx redirects to, or the names in a certificate for another name.
  detail text check (char_length(detail) <= 300),
  -- As in webhooks.ended_delivery.
  signature text,
  timing_ms integer[],
  response_headers text check (char_length(response_headers) <= 1024),
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

-- All attempts, for reads.
create view webhooks.delivery_attempt as
select merchant_id, environment, delivery_id, number, generation, started_at, ended_at, latency_ms, http_status, failure,
       response_excerpt, detail, signature, timing_ms, response_headers
  from webhooks.attempt
union all
select merchant_id, environment, id, 1, generation, started_at, ended_at, latency_ms, http_status, null,
       response_excerpt, null, signature, timing_ms, response_headers
  from webhooks.ended_delivery where started_at is not null;

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
          parent, partition, platform.first_id(starts), platform.first_id(starts + width));
        return next partition;
      end if;
    end loop;
    starts := starts + width;
  end loop;
end $$;

-- The first partitions; maintenance creates the next ones ahead of time.
select webhooks.ensure_partitions('live', now(), now() + interval '14 days');
select webhooks.ensure_partitions('test', now(), now() + interval '7 days');

-- The processes that own lanes. A process renews its lease every second; when it has ended, others take its lanes.
create table webhooks.lane_owner (
  id uuid primary key,
  leased_until timestamptz not null
);

create table webhooks.lane (
  id smallint primary key check (id between 0 and 63),
  -- Null or without a lease: free to be taken.
  owner_id uuid,
  -- Raised by each new owner. Every write of an owner requires the epoch in which it took the lane.
  epoch bigint not null default 0
);
insert into webhooks.lane (id) select generate_series(0, 63);

-- Deliveries that ended in one second in one process: what their workflow shows. Maintenance deletes them after a day.
create table webhooks.delivery_record (
  workflow_id text not null,
  id uuid not null default uuidv7(),
  -- Array of DeliveryRecord (delivery-records.ts).
  deliveries jsonb not null,
  -- By id alone: maintenance deletes the oldest, across tenants.
  primary key (id)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0
);

-- What a workflow shows.
create index delivery_record_workflow on webhooks.delivery_record (workflow_id, id);

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
  -- What the subscription missed while it was disabled: positions from the first, and before the second.
  missed_from bigint,
  missed_before bigint,
  -- To this subscription, or to all that match.
  subscription_id uuid,
  only_failed boolean not null,
  skip_never_sent boolean not null default false,
  state text not null check (state in ('RUNNING', 'COMPLETED', 'CANCELED')),
  -- The request that started the resend.
  request_id text not null,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
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
  constraint one_selection check (num_nonnulls(event_id, event_request_id, period_from, missed_from) = 1),
  constraint missed_is_complete check ((missed_from is null) = (missed_before is null)),
  constraint missed_has_subscription check (missed_from is null or subscription_id is not null),
  constraint period_is_complete check ((period_from is null) = (period_to is null)),
  constraint period_has_subscription check (period_from is null or subscription_id is not null),
  constraint running_has_not_ended check ((state = 'RUNNING') = (ended_at is null)),
  constraint counts_add_up
    check (made_count = succeeded_count + exhausted_count + canceled_count + cardinality(open_ids)),
  constraint ended_has_none_open check (state = 'RUNNING' or cardinality(open_ids) = 0)
);

-- Maintenance deletes the oldest that have ended, across tenants.
create index resend_ended on webhooks.resend (ended_at) where ended_at is not null;
-- The list of resends by state, and how many of a merchant run.
create index resend_state on webhooks.resend (merchant_id, environment, state, id);

-- The lock that orders a merchant's events and the changes of its subscriptions.
create function webhooks.subscriptions_lock(merchant_id uuid, environment text) returns bigint
  language sql immutable strict parallel safe
  return hashtextextended('webhook subscriptions ' || merchant_id || ' ' || environment, 0);

-- Takes the lock for a change of the merchant's subscriptions, until the transaction ends: transactions that are
-- publishing events end first, and later ones see the change. Returns the position of the change among the events.
create function webhooks.lock_subscriptions(merchant_id uuid, environment text) returns bigint language plpgsql as $$
begin
  perform pg_advisory_xact_lock(webhooks.subscriptions_lock(merchant_id, environment));
  return nextval('webhooks.event_position');
end $$;

-- Publishes events in the transaction of the change that they report: the only write of other areas here. `events` is
-- an array of objects with merchant_id, environment, type, object_id, request_id, occurred_at and data. Numbers the
-- events of each object in their order, logs them with the body that is signed and sent, and adds a delivery for each
-- subscription that matches. Each statement sees what was committed before it, because the locks are taken first.
-- Returns a row per event, in their order: with its body and its deliveries, an array of [id, subscription_id, generation
-- of the subscription, ordered, status].
create function webhooks.publish(events json)
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
      join webhooks.subscription s
        on s.merchant_id = e.merchant_id and s.environment = e.environment and s.state <> 'DISABLED'
       and case when e.type = 'webhook.ping.v1' then s.id::text = e.object_id else e.type = any (s.event_types) end
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

-- A number as protobuf encodes it.
create function webhooks.varint(number bigint) returns bytea language plpgsql immutable strict parallel safe as $$
declare
  bytes bytea := '';
begin
  while number > 127 loop
    bytes := bytes || set_byte('\x00', 0, (number & 127 | 128)::int);
    number := number >> 7;
  end loop;
  return bytes || set_byte('\x00', 0, number::int);
end $$;

-- Publishes the events of calls with different idempotency keys, with their idempotency records and audit entries, in one
-- statement. `calls` is an array of objects: `call` numbers it, `lock_name` excludes other transactions with its key, the
-- rest goes into platform.idempotency_record and platform.audit_entry. `events` is what webhooks.publish takes, `answers`
-- has a row for each of them: the `call` it belongs to, and `event`, the payments.webhooks.v1.Event of the recorded
-- response without id and sequence, as protobuf in base64. Returns a row per published event, as webhooks.publish does;
-- skips calls whose key is used or in use. Fails after a tenth of a second if another transaction is numbering events of the same
-- object or changing subscriptions of the same merchant.
create function webhooks.publish_calls(calls json, events json, answers json)
  returns table (call int, id uuid, sequence bigint, body text, deliveries json)
language plpgsql set lock_timeout = '100ms' as $$
#variable_conflict use_column
declare
  unused int[];
begin
  select array_agg(call) into unused
    from json_to_recordset(calls) as asked (call int, lock_name text)
   where pg_try_advisory_xact_lock(hashtextextended(lock_name, 0));

  -- A statement of its own: it sees the record of a transaction that held the lock until now.
  select array_agg(call) into unused
    from json_to_recordset(calls) as asked (
           call int, merchant_id uuid, environment text, caller text, method text, key text)
   where call = any (unused)
     -- Not a join, whose plan would read the whole table: each call is one look into the index.
     and (select true from platform.idempotency_record r
           where r.merchant_id = asked.merchant_id and r.environment = asked.environment
             and r.caller = asked.caller and r.method = asked.method and r.key = asked.key
             and r.created_at > now() - interval '24 hours') is null;
  if unused is null then return; end if;

  if cardinality(unused) < json_array_length(calls) then
    select json_agg(event order by place), json_agg(answer order by place) into events, answers
      from json_array_elements(events) with ordinality as e (event, place)
      join json_array_elements(answers) with ordinality as a (answer, place) using (place)
     where (answer->>'call')::int = any (unused);
  end if;

  return query
  with published as materialized (
    select place, call, id, sequence, body, deliveries,
           decode(event, 'base64') || '\x0a24' || convert_to(id::text, 'UTF8') || '\x30' || webhooks.varint(sequence)
             as message
      from webhooks.publish(events) with ordinality as p (id, sequence, body, deliveries, place)
      join rows from (json_to_recordset(answers) as (call int, event text))
             with ordinality as a (call, event, place) using (place)
  ), accepted as materialized (
    select * from json_to_recordset(calls) as asked (
             call int, merchant_id uuid, environment text, caller text, method text, key text, request_hash text,
             request_id text, request jsonb)
     where call = any (unused)
  ), recorded as (
    insert into platform.idempotency_record
      (merchant_id, environment, caller, method, key, request_hash, response)
    select merchant_id, environment, caller, method, key, decode(request_hash, 'base64'),
           (select string_agg('\x0a' || webhooks.varint(length(message)) || message, '' order by place)
              from published p where p.call = accepted.call)
      from accepted
    -- An expired record.
    on conflict (merchant_id, environment, caller, method, key)
    do update set request_hash = excluded.request_hash, response = excluded.response, created_at = now()
  ), audited as (
    insert into platform.audit_entry
      (merchant_id, environment, id, caller, action, request, ip_address, request_id, occurred_at)
    select merchant_id, environment, uuidv7(), caller, method, request, '', request_id, now() from accepted
  )
  select call, id, sequence, body, deliveries from published order by place;
end $$;
