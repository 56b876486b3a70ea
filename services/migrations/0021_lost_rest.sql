-- What a dispute without an amount took when it was lost is its lost_minor, so that what disputes leave of a payment does not
-- depend on their order. No release has used refunded_minor.
alter table refunds.dispute drop constraint only_loss_of_rest_follows_refunds;
-- squawk-ignore ban-drop-column
alter table refunds.dispute drop column refunded_minor;
alter table refunds.dispute drop constraint only_lost_takes;
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.dispute add constraint only_lost_takes check (
  lost_minor is null
  or (outcome = 'LOST' and lost_minor >= 0 and (amount_minor is null or (sale_id is null and lost_minor <= amount_minor)))
) not valid;
