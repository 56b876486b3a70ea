-- no transaction
-- Disputes awaiting the merchant's response without a due date: among those with one, many may be overdue.
create index concurrently if not exists dispute_awaiting_undated on refunds.dispute
  (merchant_id, environment, coalesce(due_at, opened_at), id)
  where closed_at is null and responded_at is null and due_at is null;
