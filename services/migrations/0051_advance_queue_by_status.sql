-- no transaction
-- The work queue of requests to review, or of those to pay out, across merchants, oldest first. Partial: few at a time.
create index concurrently if not exists request_queue_status on advances.request (status, requested_at, id)
  where status in ('PENDING_REVIEW', 'APPROVED');
