-- no transaction
-- Maintenance finds replaced live keys that may still be used near the end of their overlap, across tenants.
create index concurrently if not exists api_key_replaced on api_keys.api_key (expires_at)
  where environment = 'live' and revoked_at is null and rotated_at is not null and expiry_notice_days = 0;
