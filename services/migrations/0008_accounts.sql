-- People: their accounts and sessions, their membership of merchants, and whom a merchant wants notified.
create schema accounts;

-- A person, known by the identity provider's issuer and subject. Accounts and sessions have no merchant or environment.
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
  -- Of the token in the cookie, which is not stored. Unique: authentication finds the session by it.
  token_sha256 bytea not null unique check (octet_length(token_sha256) = 32),
  created_at timestamptz(3) not null,
  -- To the minute.
  last_seen_at timestamptz(3) not null,
  -- When it ends at the latest; of a session that was ended earlier, when it was.
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  ip_address text not null,
  user_agent text not null,
  primary key (account_id, id)
);
comment on table accounts.session is 'Maintenance deletes sessions 30 days after they expired or were ended.';

-- The open sessions of a person, newest first.
create index session_newest on accounts.session (account_id, created_at desc, id desc) where ended_at is null;
-- Maintenance deletes the oldest sessions first.
create index session_expiry on accounts.session (expires_at);

-- A role applies to both environments of a merchant, so members and invitations have no environment.
create table accounts.member (
  merchant_id uuid not null,
  account_id uuid not null references accounts.account (id),
  role text not null check (role in ('VIEWER', 'FINANCE', 'DEVELOPER', 'ADMIN')),
  created_at timestamptz(3) not null,
  primary key (merchant_id, account_id)
);

-- The members of a merchant, oldest first.
create index member_oldest on accounts.member (merchant_id, created_at, account_id);
-- The merchants of a person, read with each authentication.
create index member_account on accounts.member (account_id, merchant_id);

create table accounts.invitation (
  merchant_id uuid not null,
  id uuid not null,
  -- In lower case, as addresses are compared.
  email text not null check (email = lower(email)),
  role text not null check (role in ('VIEWER', 'FINANCE', 'DEVELOPER', 'ADMIN')),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3),
  primary key (merchant_id, id)
);

-- The open invitations of a merchant, newest first.
create index invitation_newest on accounts.invitation (merchant_id, created_at desc, id desc)
  where accepted_at is null and revoked_at is null;
-- A merchant invites an address once at a time; also finds the invitations of a person who signs in.
create unique index invitation_open on accounts.invitation (email, merchant_id)
  where accepted_at is null and revoked_at is null;

-- The mails that people have opted out of, of all their merchants.
create table accounts.unwanted_mail (
  account_id uuid not null references accounts.account (id),
  topic text not null check (topic in ('REFUND_DEADLINES', 'DISPUTE_DEADLINES', 'WEBHOOK_PROBLEMS')),
  primary key (account_id, topic)
);

-- The names that people see in place of a merchant's id. A merchant has the same name in both environments.
create table accounts.merchant (
  merchant_id uuid primary key,
  name text not null
);

-- Where notices to a merchant go. Without a row, to its administrators.
create table accounts.merchant_contact (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  email text not null,
  language text not null check (language in ('PT_BR', 'EN')),
  primary key (merchant_id, environment)
);
