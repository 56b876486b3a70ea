-- A database role for gateways that count requests together (RATE_LIMIT_STORE). Run it as the owner of the tables, after
-- the migrations of every release, and set a password: alter role rate_limits password '…'.
do $$ begin
  create role rate_limits login;
exception when duplicate_object then null;
end $$;

grant usage on schema rate_limit to rate_limits;
grant select, insert, update, delete on rate_limit.request_count to rate_limits;
