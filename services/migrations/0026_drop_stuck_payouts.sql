-- no transaction
-- request_payout_to_resolve replaces it.
drop index concurrently if exists advances.request_stuck_payout;
