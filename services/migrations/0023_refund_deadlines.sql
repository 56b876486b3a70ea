-- The cases that wait for the merchant, by the deadline: few at a time, whatever their number has been.
create index refund_case_deadline on refunds.refund_case
  (merchant_id, environment, merchant_review_deadline_at, id) where status = 'MERCHANT_REVIEW';

-- Disputes, all and of a payment, newest first.
create index dispute_newest on refunds.dispute (merchant_id, environment, opened_at desc, id desc);
create index dispute_payment on refunds.dispute
  (merchant_id, environment, payment_intent_id, opened_at desc, id desc);
