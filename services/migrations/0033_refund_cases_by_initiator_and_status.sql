-- no transaction
-- The list of cases with both filters: of millions with one of them, few or none may have the other.
create index concurrently if not exists refund_case_initiator_status on refunds.refund_case
  (merchant_id, environment, initiator, status, requested_at desc, id desc);
