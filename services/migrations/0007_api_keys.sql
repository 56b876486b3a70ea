create schema api_keys;

create table api_keys.api_key (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 100),
  hint text not null,
  scopes text[] not null check (
    cardinality(scopes) >= 1
    and scopes <@ array['REFUNDS_READ', 'CATALOG_READ', 'FUNDS_READ', 'ADVANCES_READ', 'WEBHOOKS_MANAGE']
  ),
  -- HMAC-SHA256 of the key under the pepper of this version; a pepper can go when no key stands on it.
  key_hash bytea not null check (octet_length(key_hash) = 32),
  pepper_version smallint not null check (pepper_version between 1 and 255),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (merchant_id, environment, id),
  check (expires_at >= created_at)
);
create index api_key_newest on api_keys.api_key (merchant_id, environment, created_at desc, id desc);

-- Whoever shows a key has not said whose it is: the one lookup that does not lead with the merchant.
create unique index api_key_key_hash on api_keys.api_key (key_hash);
