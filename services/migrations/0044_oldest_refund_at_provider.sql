-- no transaction
-- The refund that has awaited its outcome at the provider longest, across merchants. Partial: few at a time.
create index concurrently if not exists refund_case_oldest_at_provider on refunds.refund_case
  (environment, processing_started_at) where status = 'PROCESSING';
