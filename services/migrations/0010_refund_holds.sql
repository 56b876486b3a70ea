-- When a merchant was told that the time to decide is running out.
alter table refunds.refund_case add column deadline_noticed_at timestamptz(3);

-- The sale whose funds a dispute holds, where it is known, and how the dispute ended.
alter table refunds.dispute
  add column sale_id uuid,
  add column outcome text check (outcome in ('WON', 'LOST')),
  add check (outcome is null or closed_at is not null);

-- Whether a block was lifted before.
create index block_source on funds.block (merchant_id, environment, source_id);

-- Debits of refunds that the available balance did not cover. Every command that raises the balance looks here.
create table funds.waiting_debit (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  refund_case_id uuid not null,
  sale_id uuid,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  -- Which execution of the case waits: the end of an earlier one does not end the wait of a later one.
  execution integer not null check (execution >= 1),
  -- Of the case: the oldest goes first.
  requested_at timestamptz(3) not null,
  primary key (merchant_id, environment, refund_case_id)
);
create index waiting_debit_oldest on funds.waiting_debit (merchant_id, environment, requested_at, refund_case_id);

-- Once, for the cases that wait already; from here on each area writes its own.
insert into funds.waiting_debit
  (merchant_id, environment, refund_case_id, sale_id, amount_minor, execution, requested_at)
select merchant_id, environment, id, sale_id, amount_minor, executions, requested_at
  from refunds.refund_case where status = 'FUNDING_REQUIRED';
