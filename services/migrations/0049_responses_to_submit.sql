-- no transaction
-- The work queue of responses that have not been submitted to the provider, by due date: of many open disputes, few have one.
create index concurrently if not exists dispute_queue_responses on refunds.dispute (coalesce(due_at, opened_at), id)
  where closed_at is null and responded_at is not null and response_submitted_at is null;
