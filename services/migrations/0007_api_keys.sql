-- API keys of merchants. The keys themselves are not stored.
create schema api_keys;

create table api_keys.api_key (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 100),
  -- What people recognize the key by.
  hint text not null,
  scopes text[] not null check (
    cardinality(scopes) >= 1
    and scopes <@ array['REFUNDS_READ', 'CATALOG_READ', 'FUNDS_READ', 'ADVANCES_READ', 'WEBHOOKS_MANAGE']
  ),
  key_hash bytea not null check (octet_length(key_hash) = 32),
  pepper_version smallint not null check (pepper_version between 1 and 255),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  -- To the minute.
  last_used_at timestamptz(3),
  primary key (merchant_id, environment, id),
  constraint expires_after_creation check (expires_at >= created_at)
);
comment on column api_keys.api_key.key_hash is 'HMAC-SHA256 of the key under the pepper of pepper_version.';
comment on column api_keys.api_key.pepper_version is
  'The version in API_KEY_PEPPERS. A pepper can be removed from the settings once no active key has its version.';

-- The list of keys, newest first.
create index api_key_newest on api_keys.api_key (merchant_id, environment, created_at desc, id desc);
-- Authentication: a request shows only its key, so the merchant is not known yet.
create unique index api_key_key_hash on api_keys.api_key (key_hash);
