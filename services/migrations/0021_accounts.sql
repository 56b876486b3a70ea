create schema accounts;

-- A person, at whatever merchants: accounts and their sessions have no merchant and no environment.
create table accounts.account (
  id uuid primary key,
  issuer text not null,
  subject text not null,
  email text not null,
  email_verified boolean not null,
  name text not null,
  created_at timestamptz(3) not null,
  unique (issuer, subject)
);

create table accounts.session (
  account_id uuid not null references accounts.account (id) on delete cascade,
  id uuid not null,
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  ip_address text not null,
  user_agent text not null,
  primary key (account_id, id)
);
create index session_newest on accounts.session (account_id, created_at desc, id desc) where ended_at is null;
-- What can be forgotten.
create index session_expiry on accounts.session (expires_at);

-- A role holds in both environments of a merchant, so members and invitations have no environment.
create table accounts.member (
  merchant_id uuid not null,
  account_id uuid not null references accounts.account (id),
  role text not null check (role in ('VIEWER', 'DEVELOPER', 'ADMIN')),
  created_at timestamptz(3) not null,
  primary key (merchant_id, account_id)
);
create index member_oldest on accounts.member (merchant_id, created_at, account_id);
create index member_account on accounts.member (account_id, merchant_id);

create table accounts.invitation (
  merchant_id uuid not null,
  id uuid not null,
  -- In lower case.
  email text not null check (email = lower(email)),
  role text not null check (role in ('VIEWER', 'DEVELOPER', 'ADMIN')),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (merchant_id, id)
);
create index invitation_newest on accounts.invitation (merchant_id, created_at desc, id desc)
  where accepted_at is null and revoked_at is null;
-- One open invitation of an address at a merchant; also found by whoever signs in with the address.
create unique index invitation_open on accounts.invitation (email, merchant_id)
  where accepted_at is null and revoked_at is null;

create table accounts.merchant_contact (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  email text not null,
  language text not null check (language in ('PT_BR', 'EN')),
  primary key (merchant_id, environment)
);

-- What people changed. Every area inserts in the transaction of the change; accounts reads. Nothing updates it.
create table platform.audit_entry (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  account_id uuid not null,
  -- The full name of the RPC.
  action text not null,
  -- Without merchant, environment and idempotency key; null when it was too large to keep.
  request jsonb,
  ip_address text not null,
  request_id text not null,
  occurred_at timestamptz(3) not null,
  primary key (merchant_id, environment, id)
);
create index audit_entry_account on platform.audit_entry (merchant_id, environment, account_id, id desc);
