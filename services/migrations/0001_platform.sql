-- What every area uses: idempotency records, the outbox and its counter per object.
create schema platform;

create table platform.idempotency_record (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  caller text not null,
  method text not null,
  key text not null,
  request_hash bytea not null,
  response bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (merchant_id, environment, caller, method, key)
);
create index idempotency_record_created_at on platform.idempotency_record (created_at);

create table platform.object_sequence (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  object_id text not null,
  last_sequence bigint not null,
  primary key (merchant_id, environment, object_id)
);

-- Ids are UUIDv7: the dispatcher claims in their order.
create table platform.outbox_event (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  type text not null,
  object_id text not null,
  sequence bigint not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  data json not null,
  primary key (id)
);

create table platform.outbox_command (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  kind text not null check (kind in ('START', 'SIGNAL', 'CANCEL')),
  workflow_id text not null,
  workflow_type text,
  signal_name text,
  arguments jsonb not null,
  request_id text not null,
  leased_until timestamptz(3),
  primary key (id)
);
