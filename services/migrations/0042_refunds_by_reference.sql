-- no transaction
-- The refund cases of a reference, whatever their payment: callers of support know a refund by it.
create index concurrently if not exists refund_case_by_reference on refunds.refund_case
  (merchant_id, environment, refund_reference, requested_at desc, id desc) where refund_reference is not null;
