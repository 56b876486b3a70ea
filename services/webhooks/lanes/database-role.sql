-- A database role for processes that only send webhooks (services/webhook-lanes.ts). Run it as the owner of the tables,
-- after the migrations of every release, and set a password: alter role webhook_lanes password '…'.
do $$ begin
  create role webhook_lanes login;
exception when duplicate_object then null;
end $$;

grant usage on schema webhooks, platform to webhook_lanes;
grant select, insert, update, delete on all tables in schema webhooks to webhook_lanes;
grant usage on all sequences in schema webhooks to webhook_lanes;
grant execute on all functions in schema webhooks to webhook_lanes;
-- Retry workflows, records and mails to contacts are started through the outbox.
grant select, insert, delete, update (due_at) on platform.outbox_command to webhook_lanes;
