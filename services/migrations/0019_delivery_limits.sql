-- The few subscriptions with limits of their own, which each claim asks about.
create index subscription_limited on webhooks.subscription (id)
  where max_concurrent_attempts is not null or max_attempts_per_second is not null;
