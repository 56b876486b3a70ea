-- A bank may return a payout that the provider has accepted. The provider's id then names the returned one.
alter table advances.request drop constraint request_payout_last_answer_check;
-- Not valid: rows from before have none of the new values, and checking them would lock the table.
alter table advances.request add constraint request_payout_last_answer_check
  check (payout_last_answer in ('ACCEPTED', 'REFUSED', 'FAILED', 'RETURNED')) not valid;
alter table advances.request drop constraint accepted_payout_is_final;
alter table advances.request add constraint accepted_payout_has_id check (
  (payout_last_answer = 'ACCEPTED') is true = (payout_accepted_at is not null)
  and (payout_last_answer in ('ACCEPTED', 'RETURNED')) is true = (payout_provider_id is not null)) not valid;
alter table advances.request drop constraint unaccepted_payout_has_reason;
alter table advances.request add constraint unaccepted_payout_has_reason check (
  (payout_last_answer in ('REFUSED', 'FAILED', 'RETURNED')) is true = (payout_last_reason is not null)) not valid;
