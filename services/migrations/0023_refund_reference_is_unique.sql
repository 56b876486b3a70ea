-- no transaction
-- The case of a reference.
create unique index concurrently if not exists refund_case_reference on refunds.refund_case
  (merchant_id, environment, payment_intent_id, refund_reference) where refund_reference is not null;
