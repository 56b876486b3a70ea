-- no transaction
-- The work queue of a merchant's released payouts that the provider has not accepted, longest waiting first. Partial: few at a time.
create index concurrently if not exists request_provider_queue_merchant on advances.request
  (merchant_id, environment, released_at, id)
  where payout_accepted_at is null and (status = 'RELEASED' or payout_submitted_at is not null);
