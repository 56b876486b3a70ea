-- A merchant's funds: sales in installments that are released by date, what blocks, reduces or reserves them, and the
-- release rows that sum them up. VerifyFunds recomputes every sum from the installments.
create schema funds;

-- Each command locks its account's row first, so that commands on one account run one after the other.
create table funds.account (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  -- The version of the account's schedule: new after every change of its installments.
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
  -- What was sold, and to whom, as the caller names it.
  order_id uuid,
  order_number text,
  product_id uuid,
  customer_reference text,
  -- Follows from the statuses of the installments, and changes with them.
  status text not null check (status in ('SCHEDULED', 'PARTIALLY_RELEASED', 'RELEASED', 'BLOCKED')),
  primary key (merchant_id, environment, id)
);

-- The list of sales, newest first: all, those of a status, of an order and of a product. A search finds the start of an
-- order number, in any case: bytewise order makes it a range.
create index sale_newest on funds.sale (merchant_id, environment, captured_at desc, id desc);
create index sale_status on funds.sale (merchant_id, environment, status, captured_at desc, id desc);
create index sale_order on funds.sale (merchant_id, environment, order_id, captured_at desc, id desc)
  where order_id is not null;
create index sale_order_number on funds.sale
  (merchant_id, environment, (lower(order_number) collate "C"), captured_at desc, id desc)
  where order_number is not null;
create index sale_product on funds.sale (merchant_id, environment, product_id, captured_at desc, id desc)
  where product_id is not null;

-- One installment of a sale, with its share of gross and fees, less what has been deducted or advanced. A hold that needs
-- less than an installment splits it into parts, which add up to it; each part is held as a whole or not at all.
create table funds.installment (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  sale_id uuid not null,
  number integer not null check (number >= 1),
  part integer not null check (part >= 1),
  -- Whether the installment has more than one part.
  split boolean not null check (split or part = 1),
  -- The date on which it is released.
  date date not null,
  gross_minor bigint not null check (gross_minor >= 0),
  fees_minor bigint not null check (fees_minor between 0 and gross_minor),
  deducted_minor bigint not null check (deducted_minor >= 0),
  advanced_minor bigint not null check (advanced_minor >= 0),
  remaining_minor bigint not null generated always as (gross_minor - fees_minor - deducted_minor - advanced_minor) stored
    check (remaining_minor >= 0),
  status text not null check (status in ('BLOCKED', 'RELEASED', 'SCHEDULED')),
  -- Whether it was released before it was blocked; otherwise the same as the status.
  released boolean not null,
  -- The advance request that reserved it, and the amount promised to that request.
  reserved_for uuid,
  reserved_minor bigint,
  -- The open blocks of the sale that hold it, by id.
  held_by uuid[] not null,
  -- Rises with every change, so that a quote detects a later change.
  version bigint not null check (version >= 1),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, sale_id) references funds.sale,
  unique (merchant_id, environment, sale_id, number, part),
  -- No two installments of a sale share a date, so the number of first parts on a date is that of distinct sales. By date
  -- first: also lists the sales of a date.
  constraint installment_date unique (merchant_id, environment, date, sale_id, part),
  constraint blocked_status_is_held check ((status = 'BLOCKED') = (held_by <> '{}')),
  constraint released_status_is_released check ((status = 'RELEASED') <= released),
  constraint scheduled_status_is_not_released check ((status = 'SCHEDULED') <= not released),
  constraint blocked_has_remaining_amount check (status <> 'BLOCKED' or (remaining_minor > 0 and advanced_minor = 0)),
  constraint reservation_is_complete check ((reserved_for is null) = (reserved_minor is null)),
  constraint only_scheduled_is_reserved
    check (reserved_for is null or (status = 'SCHEDULED' and reserved_minor between 1 and remaining_minor))
);

-- Installments that debts may reduce and an advance may cover, nearest date first.
create index installment_free on funds.installment (merchant_id, environment, date, id)
  where status = 'SCHEDULED' and reserved_for is null and remaining_minor > 0;
-- Installments to release on their date.
create index installment_due on funds.installment (merchant_id, environment, date, id)
  where status = 'SCHEDULED' and reserved_for is null;
-- Released installments that a refund may reduce, oldest first.
create index installment_released on funds.installment (merchant_id, environment, date, id)
  where status = 'RELEASED' and remaining_minor > 0;
-- The sales that are blocked on a date, among many that are not.
create index installment_blocked on funds.installment (merchant_id, environment, date, sale_id)
  where status = 'BLOCKED';
-- The installments of a reservation.
create index installment_reserved on funds.installment (merchant_id, environment, reserved_for)
  where reserved_for is not null;

-- What holds funds of a sale: a dispute, a refund case or a review, by its id. It may come before its sale is recorded.
create table funds.block (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  sale_id uuid not null,
  reason text not null check (reason in ('HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD')),
  source_id uuid not null,
  -- What it should hold; null is the rest of the sale: captured less refunded.
  amount_minor bigint check (amount_minor between 1 and 9007199254740991),
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3),
  -- Whether the blocked amount returned to the installments or was deducted.
  outcome text check (outcome in ('RETURNED', 'CONSUMED')),
  primary key (merchant_id, environment, id),
  constraint closed_has_outcome check ((closed_at is null) = (outcome is null))
);

-- A source blocks a sale once at a time; also finds the open blocks of a sale.
create unique index block_open on funds.block (merchant_id, environment, sale_id, reason, source_id)
  where closed_at is null;
-- The check over areas reads the open blocks of a reason across merchants.
create index block_open_source on funds.block (reason, merchant_id, environment, source_id) where closed_at is null;
-- Whether a source's block was lifted before.
create index block_source on funds.block (merchant_id, environment, source_id);

-- The sums of the installments of one date and status, updated in the transaction that changes the installments. The
-- remaining amount is the amount that the status names, so that
-- original = deducted + advanced + blocked + released + scheduled holds.
create table funds.release (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  date date not null,
  status text not null check (status in ('BLOCKED', 'RELEASED', 'SCHEDULED')),
  gross_minor bigint not null check (gross_minor between 0 and 9007199254740991),
  fees_minor bigint not null check (fees_minor between 0 and gross_minor),
  deducted_minor bigint not null check (deducted_minor >= 0),
  advanced_minor bigint not null check (advanced_minor >= 0),
  remaining_minor bigint not null generated always as (gross_minor - fees_minor - deducted_minor - advanced_minor) stored
    check (remaining_minor >= 0),
  -- Distinct sales in the row.
  sales_count integer not null check (sales_count >= 1),
  -- The first parts of installments in the row. Over the rows of a date: the distinct sales of the day.
  first_parts integer not null check (first_parts between 0 and sales_count),
  -- How many parts blocks of each reason hold.
  held_by_dispute integer not null check (held_by_dispute >= 0),
  held_by_refund integer not null check (held_by_refund >= 0),
  held_by_kyc integer not null check (held_by_kyc >= 0),
  held_by_compliance integer not null check (held_by_compliance >= 0),
  -- Also the list of release rows and the calendar, by date.
  primary key (merchant_id, environment, date, status),
  constraint blocked_has_reason
    check ((status = 'BLOCKED') = (held_by_dispute + held_by_refund + held_by_kyc + held_by_compliance > 0)),
  constraint blocked_has_amount check (status <> 'BLOCKED' or remaining_minor > 0)
);

-- The list of release rows of one status.
create index release_of_status on funds.release (merchant_id, environment, status, date);
-- The daily release finds accounts with something due, across merchants.
create index release_due on funds.release (date, merchant_id, environment) where status = 'SCHEDULED';

-- A deduction of a source, and the rest that no installment covered: a debt until installments are free again.
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

-- Open debts, oldest first: collected and listed in this order.
create index deduction_open_debt on funds.deduction (merchant_id, environment, occurred_at, source_id)
  where open_debt_minor > 0;

-- The debit of a refund.
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

-- The refunds of a sale lower what its blocks should hold.
create index refund_debit_sale on funds.refund_debit (merchant_id, environment, sale_id) where reversed_at is null;

-- Debits of refunds that the available balance did not cover. Every command that raises the balance looks here.
create table funds.pending_debit (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  refund_case_id uuid not null,
  sale_id uuid,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  -- The execution of the case that waits: the end of an earlier one does not end the wait of a later one.
  execution integer not null check (execution >= 1),
  -- When the case was requested: the oldest goes first.
  requested_at timestamptz(3) not null,
  primary key (merchant_id, environment, refund_case_id)
);

-- The oldest debit that the balance covers.
create index pending_debit_oldest on funds.pending_debit (merchant_id, environment, requested_at, refund_case_id);

-- The last execution of a refund case that can no longer debit, because it awaits funding or the case has ended. Kept for
-- good: a call that was delayed may come at any time.
create table funds.ended_execution (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  refund_case_id uuid not null,
  execution integer not null check (execution >= 1),
  primary key (merchant_id, environment, refund_case_id)
);

-- What an advance request has reserved. A reservation that is freed before it was made has no amount, and keeps its
-- request from reserving anything later.
create table funds.reservation (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  advance_request_id uuid not null,
  state text not null check (state in ('HELD', 'FREED', 'SETTLED')),
  amount_minor bigint not null,
  -- Of its installments.
  first_date date not null,
  last_date date not null check (last_date >= first_date),
  primary key (merchant_id, environment, advance_request_id),
  constraint reserves_something check (amount_minor > 0 or (state = 'FREED' and amount_minor = 0))
);

-- The daily release frees reservations whose first date has come, across merchants.
create index reservation_due on funds.reservation (first_date) where state = 'HELD';

-- Append-only: every amount deducted from an installment, advanced, or restored to it. An installment's deducted_minor is
-- the sum of its postings except ADVANCE, with REFUND_REVERSAL counted as negative; its advanced_minor is the sum of
-- ADVANCE.
create table funds.posting (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  installment_id uuid not null,
  kind text not null
    check (kind in ('DEDUCTION', 'DEBT', 'CONSUMPTION', 'REFUND_DEBIT', 'REFUND_REVERSAL', 'ADVANCE')),
  -- The deduction, block, refund case or advance request that caused it.
  source_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  posted_at timestamptz(3) not null,
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, installment_id) references funds.installment
);

-- A reversal reads the postings of a refund's debit.
create index posting_source on funds.posting (merchant_id, environment, source_id);

-- Append-only: the statement of an account. What each command adds to its three balances, by cause; a row has at least one
-- change. available is what is released less open debts; scheduled and blocked are the sums of the release rows.
create table funds.movement (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  kind text not null check (kind in (
    'SALE', 'RELEASE', 'BLOCK', 'UNBLOCK', 'CONSUMPTION', 'DEDUCTION', 'DEBT_COLLECTION', 'REFUND', 'REFUND_REVERSAL',
    'ADVANCE')),
  -- The sale, block source, deduction, refund case or advance request that caused it.
  source_id uuid,
  sale_id uuid,
  -- The date of the released installments.
  release_date date,
  block_reason text
    check (block_reason in ('HOLD_OR_DISPUTE', 'REFUND_IN_PROGRESS', 'KYC_PENDING', 'COMPLIANCE_HOLD')),
  available_minor bigint not null,
  scheduled_minor bigint not null,
  blocked_minor bigint not null,
  -- When it took effect: for a release, on its date.
  occurred_at timestamptz(3) not null,
  primary key (merchant_id, environment, id),
  constraint changes_a_balance check (available_minor <> 0 or scheduled_minor <> 0 or blocked_minor <> 0),
  constraint release_has_a_date check ((kind = 'RELEASE') = (release_date is not null)),
  constraint only_a_release_has_no_source check ((kind = 'RELEASE') = (source_id is null))
);

-- The statement, in order.
create index movement_order on funds.movement (merchant_id, environment, occurred_at, id);

-- The sums of the movements of each day, so that the balance at the start of a day reads a row for each day before it.
create table funds.balance_day (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  date date not null,
  available_minor bigint not null,
  scheduled_minor bigint not null,
  blocked_minor bigint not null,
  primary key (merchant_id, environment, date)
);

-- The accounts that fail: their last verification found differences or could not be completed. A row leaves when its
-- account is verified without a difference.
create table funds.failing_account (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  -- Of this failure, from its beginning to its end.
  id uuid not null default uuidv7(),
  failing_since timestamptz(3) not null,
  verified_at timestamptz(3) not null check (verified_at >= failing_since),
  -- Null when the verification found differences.
  cause text check (cause in ('TIMEOUT', 'ERROR')),
  differences integer not null check (differences >= 0),
  invariants text[] not null,
  primary key (merchant_id, environment),
  constraint fails_for_a_reason check ((cause is null) = (differences > 0)),
  constraint differences_have_invariants check ((differences = 0) = (invariants = '{}'))
);

-- The work queue across merchants, longest failing first.
create index failing_account_queue on funds.failing_account (failing_since, id);
