-- What merchants have paid of debts from outside, by payment and debt.
create table funds.debt_payment (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  payment_id uuid not null,
  -- The deduction whose debt it pays.
  source_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  recorded_at timestamptz(3) not null,
  primary key (merchant_id, environment, payment_id, source_id)
);

-- Not valid: every row from before has one of these kinds, and checking them would lock the table.
alter table funds.movement drop constraint movement_kind_check;
alter table funds.movement add constraint movement_kind_check check (kind in (
  'SALE', 'RELEASE', 'BLOCK', 'UNBLOCK', 'CONSUMPTION', 'DEDUCTION', 'DEBT_COLLECTION', 'DEBT_PAYMENT', 'REFUND',
  'REFUND_REVERSAL', 'ADVANCE')) not valid;
