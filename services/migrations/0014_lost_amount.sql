-- What a lost dispute of a payment without a sale takes: its amount or, if less was left of the payment, all of it. Null for
-- every other dispute, and for those that were lost before: they have taken their amount.
alter table refunds.dispute add column lost_minor bigint;
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.dispute add constraint only_lost_takes
  check (lost_minor is null or (outcome = 'LOST' and sale_id is null and lost_minor between 0 and amount_minor)) not valid;
