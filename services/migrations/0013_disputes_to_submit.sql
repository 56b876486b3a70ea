-- no transaction
-- Responses that have not been submitted to the provider, across merchants. Partial: few at a time.
create index concurrently if not exists dispute_to_submit on refunds.dispute (responded_at)
  where closed_at is null and responded_at is not null and response_submitted_at is null;
