-- no transaction
-- The refund of a provider's id: customers know it from their bank, and ask for their refund by it.
create index concurrently if not exists refund_case_provider_refund on refunds.refund_case
  (merchant_id, environment, provider_refund_id, requested_at desc, id desc) where provider_refund_id is not null;
