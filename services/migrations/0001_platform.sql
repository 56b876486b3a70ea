-- The schema of the service, one file per area. services/platform/database/migrate.ts applies the files in the order of
-- their names, each once and in its own transaction. From 1.0.0 on, a released file never changes: a change is a new
-- file.
--
-- Conventions:
-- * Rows belong to a merchant and an environment (live or test). Both lead every primary key and nearly every index,
--   so that reads never cross tenants; where a key leads with something else, a comment says why.
-- * Amounts are integers in minor units (centavos), at most 2^53 - 1, so that JSON numbers hold them exactly.
-- * Timestamps have millisecond precision, because lists are ordered and paged by them.
-- * States are text with a check, so that a new state needs no new type.
-- * Ids are UUIDs; those that the service generates are UUIDv7, which sort by time of creation. Needs PostgreSQL 18.

create schema platform;

-- Responses of write RPCs by idempotency key. A repeated call gets the recorded response; the same key with another
-- request is refused. Written in the transaction of the write.
create table platform.idempotency_record (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  -- The service token's name: keys of different callers do not collide.
  caller text not null,
  -- The full name of the RPC.
  method text not null,
  key text not null,
  -- SHA-256 of the canonical request without its key.
  request_hash bytea not null,
  -- The response message, as protobuf.
  response bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (merchant_id, environment, caller, method, key)
);
comment on table platform.idempotency_record is 'Records count for 24 hours; maintenance deletes older ones.';

-- Maintenance deletes the oldest records first, across tenants.
create index idempotency_record_created_at on platform.idempotency_record (created_at);

-- The last sequence number of each object's events. The row's lock serializes events of one object, so that their
-- numbers have no gaps.
create table platform.object_sequence (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  object_id text not null,
  last_sequence bigint not null,
  primary key (merchant_id, environment, object_id)
);
comment on table platform.object_sequence is 'Kept for good: an object may have further events at any time.';

-- Events that have committed and wait for dispatch, which moves them to webhooks.event. Written in the transaction of
-- the change that they report.
create table platform.outbox_event (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  type text not null,
  object_id text not null,
  sequence bigint not null,
  -- The request that caused the event.
  request_id text not null,
  occurred_at timestamptz(3) not null,
  -- json, not jsonb: the members of the body that is signed and sent keep their order.
  data json not null,
  -- By id alone: dispatch takes events of all tenants in the order of their ids.
  primary key (id)
) with (
  -- A queue: vacuumed by how many rows passed through, not by its size.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
comment on table platform.outbox_event is 'A queue, nearly empty while dispatch runs. Claims read it from its start.';

-- Ordered subscriptions look for earlier events of an object that are still here; event lists read by merchant.
create index outbox_event_object on platform.outbox_event (merchant_id, environment, object_id, sequence);

-- Commands for Temporal. Written in the transaction that needs the workflow. SIGNAL and CANCEL are deleted once Temporal
-- has accepted them. A START stays until its workflow has done its work, and is sent again from time to time: it brings
-- back a workflow that was lost with Temporal's state, terminated, or failed.
create table platform.outbox_command (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  kind text not null check (kind in ('START', 'SIGNAL', 'CANCEL')),
  workflow_id text not null,
  -- Of START.
  workflow_type text,
  -- Of SIGNAL.
  signal_name text,
  arguments jsonb not null,
  request_id text not null,
  -- When the relay is to send it: at once, again if a relay has claimed and not confirmed it, and a START again later.
  due_at timestamptz(3) not null default clock_timestamp(),
  -- Of START: how often Temporal has accepted it.
  starts integer not null default 0 check (starts >= 0),
  -- By id alone: the relay claims commands of all tenants.
  primary key (id)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0
);
comment on table platform.outbox_command is
  'A queue, and the workflows that are running or are to run: a START stays until its workflow ends it.';

-- The relay claims what is due, oldest first.
create index outbox_command_due on platform.outbox_command (due_at, id);
-- A CANCEL removes the START of its workflow.
create index outbox_command_start on platform.outbox_command (workflow_id) where kind = 'START';

-- The audit trail: what people changed. Every area inserts in the transaction of the change, accounts reads, nothing
-- updates.
create table platform.audit_entry (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  account_id uuid not null,
  -- The full name of the RPC.
  action text not null,
  -- Without merchant, environment and idempotency key; null when the request was too large to keep.
  request jsonb,
  ip_address text not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  -- Identifies the call by caller, RPC, idempotency key and request, so that a call that is repeated, or has several
  -- transactions, leaves one entry. Null for calls without a key.
  call_sha256 bytea,
  primary key (merchant_id, environment, id)
);

-- The trail of one person, newest first.
create index audit_entry_account on platform.audit_entry (merchant_id, environment, account_id, id desc);
-- Whether a call has left its entry.
create index audit_entry_call on platform.audit_entry (merchant_id, environment, call_sha256)
  where call_sha256 is not null;
