-- When the merchant's response was submitted to the provider; null as long as that has not been recorded.
alter table refunds.dispute add column response_submitted_at timestamptz(3);
-- Not valid: rows from before have no value, and checking them would lock the table.
alter table refunds.dispute add constraint submission_follows_response
  check (response_submitted_at is null or (responded_at is not null and response_submitted_at >= responded_at)) not valid;
