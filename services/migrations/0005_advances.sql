create schema advances;

-- Immutable but for taken_up_by and lapsed.
create table advances.quote (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  schedule_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  fee_minor bigint not null check (fee_minor >= 0),
  net_minor bigint not null check (net_minor > 0),
  monthly_rate_bps integer not null check (monthly_rate_bps >= 0),
  quoted_at timestamptz(3) not null,
  expires_at timestamptz(3) not null check (expires_at > quoted_at),
  -- The caller and idempotency key that first asked for the quote.
  taken_up_by text,
  -- Somebody has met it expired: from then on no request of it may come to stand.
  lapsed boolean not null,
  primary key (merchant_id, environment, id),
  check (net_minor = amount_minor - fee_minor)
);

-- Immutable.
create table advances.quote_part (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  quote_id uuid not null,
  part_id uuid not null,
  version bigint not null,
  date date not null,
  amount_minor bigint not null check (amount_minor > 0),
  fee_minor bigint not null check (fee_minor >= 0),
  days integer not null check (days > 0),
  primary key (merchant_id, environment, quote_id, part_id),
  foreign key (merchant_id, environment, quote_id) references advances.quote
);

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
  first_date date not null,
  last_date date not null check (last_date >= first_date),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, quote_id) references advances.quote,
  unique (merchant_id, environment, quote_id),
  check (net_minor = amount_minor - fee_minor),
  check (requested_at <= reviewed_at and reviewed_at <= released_at),
  check ((status = 'PENDING_REVIEW') = (reviewed_at is null)),
  check ((status in ('RELEASED', 'SETTLED')) = (released_at is not null)),
  check (release_started_at is null or status = 'APPROVED')
);
create index request_newest on advances.request (merchant_id, environment, requested_at desc, id desc);
