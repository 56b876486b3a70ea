-- Requests of the current second by key or address, for gateways that share RATE_LIMIT_STORE. The columns are those of
-- rate-limiter-flexible. Unlogged: after a crash counting starts at nothing, and no request waits for the disk. Room in
-- each page, so that a row that is updated all the time stays on it. A database of the limits alone gets this file only.
create schema if not exists rate_limit;

create unlogged table if not exists rate_limit.request_count (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
) with (fillfactor = 50);
