-- no transaction
-- The work queue of a merchant's refunds that await the provider, oldest debit first. Partial: few at a time.
create index concurrently if not exists refund_case_provider_queue_merchant on refunds.refund_case
  (merchant_id, environment, processing_started_at, id) where status = 'PROCESSING';
