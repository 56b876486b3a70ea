-- The captured amount of the payment's sale, once it is known: the refunds of all payments that name the sale never exceed it.
alter table refunds.payment add column sale_amount_minor bigint;
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.payment add constraint payment_sale_amount_minor_check
  check (sale_amount_minor between 1 and 9007199254740991) not valid;
