-- Requests in the current second by API key or address, for gateways that share RATE_LIMIT_STORE. A database that holds
-- nothing but rate limits gets this file alone.
create schema rate_limit;

-- The columns are those of rate-limiter-flexible. Unlogged: no request waits for the disk, and after a crash counting
-- starts at zero. Pages are half empty, so that an update stays on the row's page.
create unlogged table rate_limit.request_count (
  -- squawk-ignore prefer-text-field
  key varchar(255) primary key,
  points integer not null default 0,
  -- In milliseconds since 1970.
  expire bigint
) with (fillfactor = 50);
