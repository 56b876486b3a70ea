-- Products, their prices and their offers.
create schema catalog;

create table catalog.product (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  name text not null check (char_length(name) between 1 and 200),
  description text check (char_length(description) <= 4000),
  product_type text not null check (product_type in ('ONE_TIME', 'SUBSCRIPTION')),
  status text not null check (status in ('DRAFT', 'ACTIVE', 'ARCHIVED')),
  -- Days after payment in which a refund can be requested.
  refund_window_days integer not null check (refund_window_days between 7 and 90),
  image_asset_id uuid,
  image_url text check (char_length(image_url) <= 2048 and image_url like 'https://%'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  archived_at timestamptz(3),
  primary key (merchant_id, environment, id),
  constraint archived_has_time check ((status = 'ARCHIVED') = (archived_at is not null))
);

-- The product list, newest first.
create index product_newest on catalog.product (merchant_id, environment, created_at desc, id desc);

-- A price never changes; it is retired and replaced.
create table catalog.price (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  product_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  type text not null check (type in ('ONE_TIME', 'RECURRING')),
  -- A RECURRING price is charged every interval_count intervals.
  interval text check (interval in ('DAY', 'WEEK', 'MONTH', 'YEAR')),
  interval_count integer check (interval_count >= 1),
  trial_days integer check (trial_days >= 0),
  max_installments integer not null check (max_installments >= 1),
  created_at timestamptz(3) not null,
  retired_at timestamptz(3),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, product_id) references catalog.product,
  constraint recurring_has_interval
    check ((type = 'RECURRING') = (interval is not null and interval_count is not null)),
  constraint interval_is_complete check ((interval is null) = (interval_count is null))
);

-- The current prices of a product.
create index price_current on catalog.price (merchant_id, environment, product_id) where retired_at is null;

-- An offer never changes; it is retired and replaced.
create table catalog.offer (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  product_id uuid not null,
  price_id uuid not null,
  name text not null check (char_length(name) between 1 and 200),
  checkout_url text not null check (char_length(checkout_url) <= 2048 and checkout_url like 'https://%'),
  payment_methods text[] not null check (cardinality(payment_methods) >= 1),
  max_installments integer not null check (max_installments >= 1),
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3),
  created_at timestamptz(3) not null,
  retired_at timestamptz(3),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, product_id) references catalog.product,
  foreign key (merchant_id, environment, price_id) references catalog.price,
  constraint ends_after_start check (ends_at > starts_at)
);

-- The current offers of a product.
create index offer_current on catalog.offer (merchant_id, environment, product_id) where retired_at is null;
-- Retiring a price retires its offers.
create index offer_price on catalog.offer (merchant_id, environment, price_id) where retired_at is null;
