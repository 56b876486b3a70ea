-- no transaction
-- Payouts that are stuck or returned, longest waiting first, across merchants. Partial: few at a time.
create index concurrently if not exists request_payout_to_resolve on advances.request (released_at, id)
  where payout_accepted_at is null and (payout_attempts >= 5 or payout_last_answer = 'RETURNED');
