-- What refunds had returned of a payment when a dispute without an amount was lost: the dispute took the rest. Null for every
-- other dispute, and for those that were lost before: they left nothing.
alter table refunds.dispute add column refunded_minor bigint;
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.dispute add constraint only_loss_of_rest_follows_refunds
  check (refunded_minor is null or (outcome = 'LOST' and amount_minor is null and refunded_minor >= 0)) not valid;
-- A block of the rest of a sale gets its amount when it is lost: 0 if refunds had returned all of the sale.
alter table funds.block drop constraint block_amount_minor_check;
alter table funds.block add constraint block_amount_minor_check
  check (amount_minor between 0 and 9007199254740991) not valid;
