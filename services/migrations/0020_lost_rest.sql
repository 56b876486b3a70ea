-- What a dispute without an amount took when it was lost is its lost_minor, so that what disputes leave of a payment does not
-- depend on their order. Null for those that were lost before: they left nothing.
alter table refunds.dispute drop constraint only_lost_takes;
-- Not valid: checking the rows would lock the table.
alter table refunds.dispute add constraint only_lost_takes check (
  lost_minor is null
  or (outcome = 'LOST' and lost_minor >= 0 and (amount_minor is null or (sale_id is null and lost_minor <= amount_minor)))
) not valid;
-- A block of the rest of a sale gets its amount when it is lost: 0 if refunds had returned all of the sale.
alter table funds.block drop constraint block_amount_minor_check;
alter table funds.block add constraint block_amount_minor_check
  check (amount_minor between 0 and 9007199254740991) not valid;
