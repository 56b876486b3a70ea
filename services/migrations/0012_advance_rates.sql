-- Append-only: the fee that a merchant's quotes bear from a time on; null is the default of the settings.
create table advances.rate (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  -- Ascending in the order in which the rates were set.
  id uuid not null,
  monthly_rate_bps integer check (monthly_rate_bps between 0 and 10000),
  effective_from timestamptz(3) not null,
  primary key (merchant_id, environment, id)
);
create index rate_latest on advances.rate (merchant_id, environment, effective_from desc, id desc);

-- Funds have refused a quote's parts: from then on no request of it may come to stand.
alter table advances.quote add column stale boolean not null default false;
