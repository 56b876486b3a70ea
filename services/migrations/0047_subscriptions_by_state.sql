-- no transaction
-- The list of subscriptions by state: of many disabled ones, few are active.
create index concurrently if not exists subscription_state on webhooks.subscription
  (merchant_id, environment, state, created_at desc, id desc) where deleted_at is null;
