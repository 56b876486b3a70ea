-- How a refund is called in the records of who asked for it. A payment has one case of a reference, so that a request which is
-- repeated after its idempotency key has expired opens no second case.
alter table refunds.refund_case add column refund_reference text;
