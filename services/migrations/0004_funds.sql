create schema funds;

-- Every command locks its account's row first. schedule_id is new after every change of the account's parts.
create table funds.account (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  schedule_id uuid not null,
  primary key (merchant_id, environment)
);

create table funds.sale (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  method text not null check (method in ('INSTANT_TRANSFER', 'CARD')),
  gross_minor bigint not null check (gross_minor between 1 and 9007199254740991),
  fees_minor bigint not null check (fees_minor between 0 and gross_minor),
  installments integer not null check (installments between 1 and 99),
  captured_at timestamptz(3) not null,
  primary key (merchant_id, environment, id)
);

create table funds.part (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  sale_id uuid not null,
  installment integer not null check (installment >= 1),
  date date not null,
  gross_minor bigint not null check (gross_minor >= 0),
  fees_minor bigint not null check (fees_minor between 0 and gross_minor),
  deducted_minor bigint not null check (deducted_minor >= 0),
  advanced_minor bigint not null check (advanced_minor >= 0),
  left_minor bigint not null generated always as (gross_minor - fees_minor - deducted_minor - advanced_minor) stored
    check (left_minor >= 0),
  status text not null check (status in ('BLOCKED', 'RELEASED', 'SCHEDULED')),
  -- Kept while the part is blocked; otherwise it says the same as the status.
  released boolean not null,
  reserved_for uuid,
  reserved_minor bigint,
  version bigint not null check (version >= 1),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, sale_id) references funds.sale,
  unique (merchant_id, environment, sale_id, installment),
  -- A row's or day's count of parts is therefore its count of distinct sales.
  unique (merchant_id, environment, sale_id, date),
  check ((status = 'RELEASED') <= released),
  check ((status = 'SCHEDULED') <= not released),
  check (status <> 'BLOCKED' or (left_minor > 0 and advanced_minor = 0)),
  check ((reserved_for is null) = (reserved_minor is null)),
  check (reserved_for is null or (status = 'SCHEDULED' and reserved_minor between 1 and left_minor))
);
create index part_free on funds.part (merchant_id, environment, date, id)
  where status = 'SCHEDULED' and reserved_for is null and left_minor > 0;
create index part_due on funds.part (merchant_id, environment, date, id)
  where status = 'SCHEDULED' and reserved_for is null;
create index part_released on funds.part (merchant_id, environment, date, id)
  where status = 'RELEASED' and left_minor > 0;
create index part_reserved on funds.part (merchant_id, environment, reserved_for) where reserved_for is not null;

create table funds.block (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  sale_id uuid not null,
  reason text not null check (reason in ('HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD')),
  source_id uuid not null,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  outcome text check (outcome in ('RETURNED', 'CONSUMED')),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, sale_id) references funds.sale,
  check ((closed_at is null) = (outcome is null))
);
create unique index block_open on funds.block (merchant_id, environment, sale_id, reason, source_id)
  where closed_at is null;

-- The sums of the parts of a date and status, kept in the transaction that changes the parts. What is left is the
-- amount that the status names, so original = deducted + advanced + blocked + released + scheduled always holds.
create table funds.release (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  date date not null,
  status text not null check (status in ('BLOCKED', 'RELEASED', 'SCHEDULED')),
  gross_minor bigint not null check (gross_minor between 0 and 9007199254740991),
  fees_minor bigint not null check (fees_minor between 0 and gross_minor),
  deducted_minor bigint not null check (deducted_minor >= 0),
  advanced_minor bigint not null check (advanced_minor >= 0),
  left_minor bigint not null generated always as (gross_minor - fees_minor - deducted_minor - advanced_minor) stored
    check (left_minor >= 0),
  sales_count integer not null check (sales_count >= 1),
  -- How many parts each reason holds.
  held_by_dispute integer not null check (held_by_dispute between 0 and sales_count),
  held_by_refund integer not null check (held_by_refund between 0 and sales_count),
  held_by_kyc integer not null check (held_by_kyc between 0 and sales_count),
  held_by_compliance integer not null check (held_by_compliance between 0 and sales_count),
  primary key (merchant_id, environment, date, status),
  check ((status = 'BLOCKED') = (held_by_dispute + held_by_refund + held_by_kyc + held_by_compliance > 0)),
  check (status <> 'BLOCKED' or left_minor > 0)
);
create index release_of_status on funds.release (merchant_id, environment, status, date);
-- For the daily release, across merchants.
create index release_due on funds.release (date, merchant_id, environment) where status = 'SCHEDULED';

-- What was deducted for a source, and what of it the parts could not bear: a debt until parts are free again.
create table funds.deduction (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  source_id uuid not null,
  sale_id uuid,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  open_debt_minor bigint not null check (open_debt_minor between 0 and amount_minor),
  occurred_at timestamptz(3) not null,
  primary key (merchant_id, environment, source_id)
);
create index deduction_open_debt on funds.deduction (merchant_id, environment, occurred_at, source_id)
  where open_debt_minor > 0;

create table funds.refund_debit (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  refund_case_id uuid not null,
  sale_id uuid,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  debited_at timestamptz(3) not null,
  reversed_at timestamptz(3),
  primary key (merchant_id, environment, refund_case_id)
);

create table funds.reservation (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  advance_request_id uuid not null,
  state text not null check (state in ('HELD', 'FREED', 'SETTLED')),
  amount_minor bigint not null check (amount_minor > 0),
  first_date date not null,
  last_date date not null check (last_date >= first_date),
  primary key (merchant_id, environment, advance_request_id)
);
-- For the daily release, across merchants.
create index reservation_due on funds.reservation (first_date) where state = 'HELD';

-- Append-only: every amount that was taken from a part or given back to it. A part's deducted_minor is the sum of its
-- postings but ADVANCE, reversals counting against; its advanced_minor is the sum of ADVANCE.
create table funds.posting (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  part_id uuid not null,
  kind text not null
    check (kind in ('DEDUCTION', 'DEBT', 'CONSUMPTION', 'REFUND_DEBIT', 'REFUND_REVERSAL', 'ADVANCE')),
  -- The deduction, block, refund case or advance request it is for.
  source_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  posted_at timestamptz(3) not null,
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, part_id) references funds.part
);
create index posting_source on funds.posting (merchant_id, environment, source_id);
