-- no transaction
-- The work queue of a merchant's requests to review or pay out, oldest first. Partial: few at a time.
create index concurrently if not exists request_queue_merchant on advances.request (merchant_id, environment, requested_at, id)
  where status in ('PENDING_REVIEW', 'APPROVED');
