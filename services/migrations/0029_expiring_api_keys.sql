-- no transaction
-- Maintenance finds live keys whose notice is due, across tenants.
create index concurrently if not exists api_key_expiring on api_keys.api_key (expires_at)
  where environment = 'live' and revoked_at is null and (expiry_notice_days is null or expiry_notice_days > 1);
