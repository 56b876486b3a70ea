-- Events on their way once more: what was asked for, how far it is and what came of it.
create table webhooks.resend (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  -- What was selected: an event, the events of a request or those of a period.
  event_id uuid,
  event_request_id text,
  period_from timestamptz(3),
  period_to timestamptz(3),
  subscription_id uuid,
  only_failed boolean not null,
  state text not null check (state in ('RUNNING', 'COMPLETED', 'CANCELED')),
  -- The request that asked for it.
  request_id text not null,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- When its workflow last went on with it, or was last started.
  asked_at timestamptz(3) not null,
  -- It goes on behind this event and subscription, in the order of both, up to the last event.
  after_event_id uuid not null,
  after_subscription_id uuid not null,
  last_event_id uuid not null,
  expected_count bigint not null,
  made_count bigint not null,
  succeeded_count bigint not null,
  exhausted_count bigint not null,
  canceled_count bigint not null,
  -- Those of its deliveries that are not counted as ended yet.
  open_ids uuid[] not null,
  primary key (merchant_id, environment, id),
  -- Its workflow knows it by its id alone.
  constraint resend_id unique (id),
  check (num_nonnulls(event_id, event_request_id, period_from) = 1),
  check ((period_from is null) = (period_to is null)),
  check (period_from is null or subscription_id is not null),
  check ((state = 'RUNNING') = (ended_at is null)),
  check (made_count = succeeded_count + exhausted_count + canceled_count + cardinality(open_ids)),
  check (state = 'RUNNING' or cardinality(open_ids) = 0)
);
create index resend_state on webhooks.resend (merchant_id, environment, state, id);
create index resend_running on webhooks.resend (asked_at) where state = 'RUNNING';
