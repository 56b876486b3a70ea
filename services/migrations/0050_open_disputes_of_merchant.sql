-- no transaction
-- The work queue of open disputes of a merchant, by due date. Partial: few at a time.
create index concurrently if not exists dispute_queue_merchant on refunds.dispute
  (merchant_id, environment, coalesce(due_at, opened_at), id) where closed_at is null;
