-- Advances on scheduled funds: rates, quotes and requests.
create schema advances;

-- Append-only: the monthly fee of a merchant's quotes from a time on.
create table advances.rate (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  -- Ascending in the order in which the rates were set.
  id uuid not null,
  -- Null goes back to the default of the settings.
  monthly_rate_bps integer check (monthly_rate_bps between 0 and 10000),
  effective_from timestamptz(3) not null,
  primary key (merchant_id, environment, id)
);

-- The rate in effect at a time.
create index rate_latest on advances.rate (merchant_id, environment, effective_from desc, id desc);

-- What an advance would cover and cost at a time. Immutable except for requested_by, expired and stale. Deleted 30 days
-- after it expired, unless it was requested.
create table advances.quote (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  -- The version of the funds schedule that was quoted.
  schedule_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  fee_minor bigint not null check (fee_minor >= 0),
  net_minor bigint not null check (net_minor > 0),
  monthly_rate_bps integer not null check (monthly_rate_bps >= 0),
  quoted_at timestamptz(3) not null,
  expires_at timestamptz(3) not null check (expires_at > quoted_at),
  -- The caller and idempotency key that first requested the quote: others are refused.
  requested_by text,
  -- A request found it expired: no later request succeeds, even if its clock is behind.
  expired boolean not null,
  -- Funds refused its installments: no later request succeeds.
  stale boolean not null,
  primary key (merchant_id, environment, id),
  constraint net_is_amount_less_fee check (net_minor = amount_minor - fee_minor)
);

-- Maintenance deletes the oldest that nobody has requested, across tenants.
create index quote_unrequested on advances.quote (expires_at) where requested_by is null;

-- The installments that a quote covers, each in the version that was quoted. Immutable.
create table advances.quote_installment (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  quote_id uuid not null,
  installment_id uuid not null,
  version bigint not null,
  date date not null,
  amount_minor bigint not null check (amount_minor > 0),
  fee_minor bigint not null check (fee_minor >= 0),
  -- The days for which the fee is charged.
  days integer not null check (days > 0),
  primary key (merchant_id, environment, quote_id, installment_id),
  foreign key (merchant_id, environment, quote_id) references advances.quote
);

-- A quote that the merchant requested, from review to settlement. At most one of a quote.
create table advances.request (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  quote_id uuid not null,
  schedule_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  fee_minor bigint not null check (fee_minor >= 0),
  net_minor bigint not null check (net_minor > 0),
  status text not null check (status in ('PENDING_REVIEW', 'APPROVED', 'RELEASED', 'REFUSED', 'SETTLED')),
  requested_at timestamptz(3) not null,
  reviewed_at timestamptz(3),
  review_reason text check (char_length(review_reason) between 1 and 2000),
  -- Set between the start of the payout and its end.
  release_started_at timestamptz(3),
  -- The caller and idempotency key that started the payout.
  release_started_by text,
  released_at timestamptz(3),
  -- The payout of a released request. Null until it is first submitted to the provider.
  payout_submitted_at timestamptz(3),
  -- The calls to the provider that are recorded, up to the accepted one.
  payout_attempts integer not null default 0 check (payout_attempts >= 0),
  payout_last_answer_at timestamptz(3),
  payout_last_answer text check (payout_last_answer in ('ACCEPTED', 'REFUSED', 'FAILED')),
  -- Why it was not accepted.
  payout_last_reason text check (char_length(payout_last_reason) between 1 and 1000),
  payout_accepted_at timestamptz(3),
  payout_provider_id text,
  -- Of the covered installments.
  first_date date not null,
  last_date date not null check (last_date >= first_date),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, quote_id) references advances.quote,
  unique (merchant_id, environment, quote_id),
  constraint net_is_amount_less_fee check (net_minor = amount_minor - fee_minor),
  constraint times_in_order check (requested_at <= reviewed_at and reviewed_at <= released_at),
  constraint reviewed_has_time check ((status = 'PENDING_REVIEW') = (reviewed_at is null)),
  constraint released_has_time check ((status in ('RELEASED', 'SETTLED')) = (released_at is not null)),
  constraint only_approved_is_released check (release_started_at is null or status = 'APPROVED'),
  constraint only_released_is_paid_out check (payout_submitted_at is null or released_at is not null),
  constraint submitted_payout_has_answer check (
    (payout_submitted_at is null) = (payout_attempts = 0)
    and (payout_submitted_at is null) = (payout_last_answer_at is null)
    and (payout_submitted_at is null) = (payout_last_answer is null)),
  constraint accepted_payout_is_final check (
    (payout_last_answer = 'ACCEPTED') is true = (payout_accepted_at is not null)
    and (payout_accepted_at is null) = (payout_provider_id is null)),
  constraint unaccepted_payout_has_reason
    check ((payout_last_answer in ('REFUSED', 'FAILED')) is true = (payout_last_reason is not null))
);

-- The list of requests, newest first: all and those of a status.
create index request_newest on advances.request (merchant_id, environment, requested_at desc, id desc);
create index request_status on advances.request (merchant_id, environment, status, requested_at desc, id desc);
-- The work queue of requests to review or pay out across merchants, oldest first. Partial: few at a time.
create index request_queue on advances.request (requested_at, id) where status in ('PENDING_REVIEW', 'APPROVED');
-- The work queue of released payouts that the provider has not accepted across merchants, longest waiting first. Partial:
-- few at a time. Where payouts are made elsewhere, a request leaves it when it is settled.
create index request_provider_queue on advances.request (released_at, id)
  where payout_accepted_at is null and (status = 'RELEASED' or payout_submitted_at is not null);
-- Payouts that are stuck, longest waiting first, across merchants. Partial: few at a time.
create index request_stuck_payout on advances.request (released_at, id)
  where payout_accepted_at is null and payout_attempts >= 5;
