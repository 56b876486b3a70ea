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
  -- Who started the workflow: the caller, and the person if a person made the call. A workflow that another one
  -- starts has the same starter.
  started_by text,
  account_id uuid,
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

-- Mirrors of accounts.session and accounts.member, written in the transactions of accounts. Every area checks them in the
-- transaction of a write that a person makes, and locks them: a change of a role, or the end of a session, and a write
-- commit one after the other. People belong to no environment, and sessions to no merchant.
create table platform.session (
  -- Of the token in the cookie, which is not stored.
  token_sha256 bytea not null primary key check (octet_length(token_sha256) = 32),
  account_id uuid not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
comment on table platform.session is 'Open and expired sessions: ending one deletes its row, maintenance those that expired.';

-- Maintenance deletes the oldest sessions first.
create index session_expiry on platform.session (expires_at);

create table platform.membership (
  merchant_id uuid not null,
  account_id uuid not null,
  role text not null check (role in ('VIEWER', 'FINANCE', 'DEVELOPER', 'ADMIN')),
  primary key (merchant_id, account_id)
);

-- The least UUIDv7 of a time, in milliseconds: ids created from then on are not less.
create function platform.first_id(at timestamptz) returns uuid
  language sql immutable strict parallel safe
  return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- The audit trail: every write, and every sign-in of a member. Every area inserts in the transaction of the change,
-- accounts reads, nothing updates. Partitioned by the time in the ids, so that retention drops partitions.
create table platform.audit_entry (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  -- The service that made the call. People call through the dashboard.
  caller text not null,
  -- The person who made the call, or started the workflow that made it. Null when services act by themselves.
  account_id uuid,
  -- Of a call that a workflow made: the caller that started the workflow.
  started_by text,
  -- The full name of the RPC.
  action text not null,
  -- Without merchant, environment and idempotency key; null when the request was too large to keep.
  request jsonb,
  -- Of the person who made the call; empty for services.
  ip_address text not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  -- Identifies a call with several transactions by caller, RPC, idempotency key and request, so that it leaves one entry,
  -- even if it is interrupted and repeated.
  call_sha256 bytea,
  primary key (merchant_id, environment, id)
) partition by range (id);
comment on table platform.audit_entry is 'Kept for AUDIT_RETENTION; older partitions are dropped.';

-- What people did or started, newest first: of all, and of one person.
create index audit_entry_people on platform.audit_entry (merchant_id, environment, id desc) where account_id is not null;
create index audit_entry_account on platform.audit_entry (merchant_id, environment, account_id, id desc)
  where account_id is not null;
-- Whether a call has left its entry.
create index audit_entry_call on platform.audit_entry (merchant_id, environment, call_sha256)
  where call_sha256 is not null;

-- Creates the missing partitions between two times, 30 days each, and returns their names. Attaching takes no lock that
-- readers or writers wait for. A name ends with the partition's first day; retention relies on it.
create function platform.ensure_audit_partitions(from_time timestamptz, to_time timestamptz)
  returns setof text language plpgsql as $$
declare
  width constant interval := interval '30 days';
  starts timestamptz := date_bin(width, from_time, timestamptz '2001-01-01 00:00:00+00');
  partition text;
begin
  while starts <= to_time loop
    partition := 'audit_entry_' || to_char(starts at time zone 'UTC', 'YYYYMMDD');
    if to_regclass('platform.' || partition) is null then
      execute format('create table platform.%I (like platform.audit_entry including all)', partition);
      execute format('alter table platform.audit_entry attach partition platform.%I for values from (%L) to (%L)',
        partition, platform.first_id(starts), platform.first_id(starts + width));
      return next partition;
    end if;
    starts := starts + width;
  end loop;
end $$;

-- The first partitions; maintenance creates the next ones ahead of time.
select platform.ensure_audit_partitions(now() - interval '1 day', now() + interval '90 days');

-- Tokens with which callers authenticate, beside those of the setting SERVICE_TOKENS. They belong to no merchant.
create table platform.service_token (
  id uuid primary key,
  -- The caller. A token that succeeds another has the same name.
  name text not null check (name ~ '^[a-z][a-z0-9-]{0,63}$'),
  grants text[] not null check (cardinality(grants) >= 1),
  -- Of a token with at least 256 random bits, so that a plain hash keeps it secret.
  token_sha256 bytea not null check (octet_length(token_sha256) = 32),
  created_at timestamptz(3) not null,
  -- The callers that issued and revoked it.
  created_by text not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text,
  -- The token that it succeeds.
  rotated_from uuid references platform.service_token,
  constraint expires_after_creation check (expires_at >= created_at),
  constraint revoked_by_a_caller check ((revoked_at is null) = (revoked_by is null))
);
comment on table platform.service_token is 'Revoked and expired tokens stay: they say who could do what, and when.';

create unique index service_token_sha256 on platform.service_token (token_sha256);
-- Authentication reads all active tokens.
create index service_token_active on platform.service_token ((coalesce(expires_at, 'infinity')))
  where revoked_at is null;
-- The lists of tokens, newest first.
create index service_token_newest on platform.service_token (created_at desc, id desc);
create index service_token_caller on platform.service_token (name, created_at desc, id desc);
