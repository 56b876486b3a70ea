-- Subscriptions, events, deliveries and what dispatch needs to hand them out once. Needs PostgreSQL 18 (uuidv7).
create schema webhooks;

create table webhooks.subscription (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  url text not null check (char_length(url) <= 2048 and url like 'https://%'),
  -- The url without a final dot of its host.
  unique_url text not null,
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  state text not null check (state in ('PENDING', 'ACTIVE', 'ERROR', 'DISABLED')),
  -- Raised by disabling: the outcome of an attempt begun before changes the state no more.
  generation bigint not null check (generation >= 1),
  created_at timestamptz(3) not null,
  -- Created or reactivated: events from then on are delivered.
  enabled_at timestamptz(3) not null,
  disabled_at timestamptz(3),
  error_reason text,
  error_at timestamptz(3),
  -- Set while deliveries are HELD; probe_at is when the next of them goes alone, null while they flow again.
  holding boolean not null,
  probe_at timestamptz(3),
  primary key (merchant_id, environment, id),
  constraint subscription_url unique (merchant_id, environment, unique_url),
  check ((state = 'DISABLED') = (disabled_at is not null)),
  check ((error_reason is null) = (error_at is null)),
  check (state <> 'ERROR' or error_at is not null),
  check (state <> 'ACTIVE' or error_at is null),
  check (holding or probe_at is null)
);
create index subscription_newest on webhooks.subscription (merchant_id, environment, created_at desc, id desc);
create index subscription_enabled on webhooks.subscription (merchant_id, environment) where state <> 'DISABLED';
create index subscription_holding on webhooks.subscription (id) where holding;

-- expires_at is null for the current secret; an older one signs too until then.
create table webhooks.signing_secret (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  subscription_id uuid not null,
  key_id smallint not null,
  sealed bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revealed_at timestamptz(3),
  -- The caller and its idempotency key that revealed it, as a hash.
  revealed_with bytea,
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, subscription_id) references webhooks.subscription,
  check ((revealed_at is null) = (revealed_with is null))
);
create unique index signing_secret_current on webhooks.signing_secret (merchant_id, environment, subscription_id)
  where expires_at is null;
create index signing_secret_subscription on webhooks.signing_secret (merchant_id, environment, subscription_id);

-- Ids are UUIDv7 here and below, so that each table can be partitioned by ranges of them. body is sent as it is.
create table webhooks.event (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  body text not null,
  primary key (merchant_id, environment, id)
);

-- created_at is the time in its id.
create table webhooks.delivery (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  status text not null
    check (status in ('PENDING', 'RETRYING', 'HELD', 'SUCCEEDED', 'EXHAUSTED', 'CANCELED')),
  -- Attempts that were recorded, one still under way included.
  attempt_count integer not null check (attempt_count >= 0),
  next_attempt_at timestamptz(3),
  ended_at timestamptz(3),
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
  check ((status in ('PENDING', 'RETRYING', 'HELD')) = (ended_at is null)),
  check ((ended_at is null) = (next_attempt_at is not null)),
  check ((busy_since is null) = (busy_until is null))
);
-- Dispatch knows deliveries by their id alone.
create unique index delivery_id on webhooks.delivery (id);
create index delivery_subscription on webhooks.delivery (merchant_id, environment, subscription_id, id);
create index delivery_event on webhooks.delivery (merchant_id, environment, event_id);
create index delivery_open on webhooks.delivery (subscription_id, status, next_attempt_at) where ended_at is null;
create index delivery_waiting on webhooks.delivery (subscription_id, id)
  where status = 'PENDING' and batch_id is null;
create index delivery_busy on webhooks.delivery (subscription_id, busy_since) where busy_since is not null;
create index delivery_retrying on webhooks.delivery (next_attempt_at) where status = 'RETRYING';

-- ended_at is null while it is under way.
create table webhooks.attempt (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  delivery_id uuid not null,
  number integer not null check (number >= 1),
  generation bigint not null,
  started_at timestamptz(3) not null,
  deadline_at timestamptz(3),
  ended_at timestamptz(3),
  latency_ms integer check (latency_ms >= 0),
  http_status integer,
  failure text check (failure in ('DNS', 'CONNECT_TIMEOUT', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'TLS',
    'TIMEOUT', 'EGRESS_DENIED', 'PROTOCOL', 'WORKER_LOST')),
  response_excerpt text,
  primary key (merchant_id, environment, delivery_id, number),
  check ((ended_at is null) = (http_status is null and failure is null)),
  check (http_status is null or failure is null),
  check (ended_at is not null or deadline_at is not null)
);
create index attempt_under_way on webhooks.attempt (deadline_at) where ended_at is null;

-- Handed out, until its lease has ended and nothing of it is open.
create table webhooks.batch (
  id uuid primary key,
  environment text not null check (environment in ('live', 'test')),
  leased_until timestamptz(3) not null,
  delivery_ids uuid[] not null
);
create index batch_leased_until on webhooks.batch (leased_until);
