-- The captured amount of the payment's sale, once it is known: the refunds of all payments that name the sale never exceed it.
alter table refunds.payment add column sale_amount_minor bigint;
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.payment add constraint payment_sale_amount_minor_check
  check (sale_amount_minor between 1 and 9007199254740991) not valid;

-- A lost dispute can be reversed, as on appeal: what it took is restored, and it takes nothing more.
alter table refunds.dispute add column reversed_at timestamptz(3);
alter table refunds.dispute drop constraint dispute_outcome_check;
alter table refunds.dispute add constraint dispute_outcome_check check (outcome in ('WON', 'LOST', 'REVERSED')) not valid;
alter table refunds.dispute add constraint reversed_has_time
  check ((outcome is not distinct from 'REVERSED') = (reversed_at is not null) and reversed_at >= closed_at) not valid;
alter table refunds.dispute drop constraint only_lost_takes;
alter table refunds.dispute add constraint only_lost_takes check (
  lost_minor is null
  or (outcome in ('LOST', 'REVERSED') and lost_minor >= 0
      and (amount_minor is null or (sale_id is null and lost_minor <= amount_minor)))
) not valid;

-- REVERSED: what a lost block consumed was restored.
alter table funds.block drop constraint block_outcome_check;
alter table funds.block add constraint block_outcome_check
  check (outcome in ('RETURNED', 'CONSUMED', 'REVERSED')) not valid;

-- When what a source took was restored: it deducts nothing more, and what was unpaid of its debt is canceled. The amount is 0 if
-- the source had no deduction.
alter table funds.deduction add column reversed_at timestamptz(3);
alter table funds.deduction add column canceled_debt_minor bigint not null default 0;
alter table funds.deduction drop constraint deduction_amount_minor_check;
alter table funds.deduction add constraint deduction_amount_minor_check
  check (amount_minor between 0 and 9007199254740991 and (amount_minor > 0 or reversed_at is not null)) not valid;
alter table funds.deduction add constraint reversed_owes_nothing
  check (case when reversed_at is null then canceled_debt_minor = 0
           else open_debt_minor = 0 and canceled_debt_minor between 0 and amount_minor end) not valid;

-- The reversals are negative: an installment's deducted_minor counts them so.
alter table funds.posting drop constraint posting_kind_check;
alter table funds.posting add constraint posting_kind_check check (kind in (
  'DEDUCTION', 'DEBT', 'DEDUCTION_REVERSAL', 'CONSUMPTION', 'CONSUMPTION_REVERSAL', 'REFUND_DEBIT', 'REFUND_REVERSAL',
  'ADVANCE')) not valid;
alter table funds.movement drop constraint movement_kind_check;
alter table funds.movement add constraint movement_kind_check check (kind in (
  'SALE', 'RELEASE', 'BLOCK', 'UNBLOCK', 'CONSUMPTION', 'DEDUCTION', 'DEDUCTION_REVERSAL', 'DEBT_COLLECTION', 'DEBT_PAYMENT',
  'REFUND', 'REFUND_REVERSAL', 'ADVANCE')) not valid;
