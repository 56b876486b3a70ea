-- Refund cases and disputes of payments. The payments themselves live outside the service.
create schema refunds;

-- The facts of a payment, fixed by its first refund case: null until then, when a dispute came first. The row's lock
-- serializes new cases and disputes of the payment.
create table refunds.payment (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  paid_amount_minor bigint check (paid_amount_minor between 1 and 9007199254740991),
  paid_at timestamptz(3),
  refund_window_days integer check (refund_window_days between 7 and 90),
  -- The product that the refund window comes from.
  product_id uuid,
  sale_id uuid,
  order_id uuid,
  invoice_id uuid,
  primary key (merchant_id, environment, id)
);

-- A refund from request to outcome. The payment's facts are copied here, as they never change, so that the list of
-- cases reads one table.
create table refunds.refund_case (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  payment_intent_id uuid not null,
  amount_minor bigint not null check (amount_minor between 1 and 9007199254740991),
  status text not null check (status in (
    'MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING',
    'SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED')),
  initiator text not null check (initiator in ('CUSTOMER', 'MERCHANT')),
  approval_mode text check (approval_mode in ('INSTANT', 'OPERATIONS', 'RISK_POLICY')),
  -- What keeps the case from execution.
  blocked_by text[] not null check (blocked_by <@ array[
    'INSUFFICIENT_AVAILABLE_BALANCE', 'KYC_NOT_APPROVED', 'MERCHANT_NOT_ACTIVE', 'PAYMENT_DISPUTED',
    'PAYMENT_NOT_LIVE', 'REFUND_FREQUENCY_24H', 'REFUND_VOLUME_24H']),
  evidence_count integer not null check (evidence_count >= 0),
  reason text not null,
  sale_id uuid,
  order_id uuid,
  invoice_id uuid,
  payment_paid_at timestamptz(3),
  refund_window_days integer,
  refund_window_expires_at timestamptz(3),
  merchant_review_deadline_at timestamptz(3),
  -- When the merchant was notified that the deadline approaches.
  deadline_notified_at timestamptz(3),
  merchant_decision text check (merchant_decision in ('APPROVED', 'CONTESTED', 'EXPIRED')),
  merchant_decided_at timestamptz(3),
  merchant_decision_reason text,
  -- How often an execution was started.
  executions integer not null check (executions >= 0),
  -- Set from the start of an execution until the outcome of its debit is known.
  execution_started_at timestamptz(3),
  -- When the funds were debited; set for good.
  processing_started_at timestamptz(3),
  provider_refund_id text,
  provider_submission_status text,
  provider_submitted_at timestamptz(3),
  -- When the provider last reported on the refund while it was PROCESSING.
  provider_reported_at timestamptz(3),
  requested_at timestamptz(3) not null,
  updated_at timestamptz(3) not null check (updated_at >= requested_at),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, payment_intent_id) references refunds.payment,
  constraint nothing_blocks_past_execution
    check (status not in ('PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED') or blocked_by = '{}'),
  constraint funding_required_lacks_balance
    check ((status = 'FUNDING_REQUIRED') = ('INSUFFICIENT_AVAILABLE_BALANCE' = any (blocked_by))),
  constraint debited_has_time
    check ((status in ('PROCESSING', 'SUCCEEDED', 'FAILED')) = (processing_started_at is not null)),
  constraint provider_refund_after_debit
    check (processing_started_at is not null or coalesce(provider_refund_id, provider_submission_status) is null),
  constraint provider_submission_after_debit
    check (processing_started_at is not null or provider_submitted_at is null),
  constraint provider_report_after_debit
    check (processing_started_at is not null or provider_reported_at is null),
  constraint only_approved_executes check (status = 'APPROVED_FOR_EXECUTION' or execution_started_at is null),
  constraint only_customer_cases_are_reviewed check (initiator = 'CUSTOMER' or merchant_review_deadline_at is null),
  constraint decision_needs_review check (merchant_decision is null or merchant_review_deadline_at is not null),
  -- An expired review has no time of decision.
  constraint decision_has_time
    check ((merchant_decision in ('APPROVED', 'CONTESTED')) is true = (merchant_decided_at is not null)),
  constraint window_end_is_known_with_its_facts
    check ((refund_window_expires_at is null) = (payment_paid_at is null or refund_window_days is null))
);

-- The list of cases, newest first: without a filter and with each of the filters. The index by payment also serves new
-- cases, which add up what is already refunded, and disputes; the first one the limits of 24 hours.
create index refund_case_newest on refunds.refund_case
  (merchant_id, environment, requested_at desc, id desc);
create index refund_case_status on refunds.refund_case
  (merchant_id, environment, status, requested_at desc, id desc);
create index refund_case_initiator on refunds.refund_case
  (merchant_id, environment, initiator, requested_at desc, id desc);
create index refund_case_payment on refunds.refund_case
  (merchant_id, environment, payment_intent_id, requested_at desc, id desc);
create index refund_case_order on refunds.refund_case
  (merchant_id, environment, order_id, requested_at desc, id desc) where order_id is not null;
-- Cases awaiting the merchant's decision, soonest deadline first. Partial: few at a time, however many there have been.
create index refund_case_deadline on refunds.refund_case
  (merchant_id, environment, merchant_review_deadline_at, id) where status = 'MERCHANT_REVIEW';
-- The check over areas reads the open cases across merchants. Partial: few at a time.
create index refund_case_open on refunds.refund_case (merchant_id, environment, id)
  where status in ('MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING');
-- Refunds that await the provider, longest silence first, across merchants. Partial: few at a time.
create index refund_case_awaiting_provider on refunds.refund_case
  (environment, (coalesce(provider_reported_at, processing_started_at))) where status = 'PROCESSING';

create table refunds.dispute (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  payment_intent_id uuid not null,
  -- The sale whose funds the dispute blocks, where it is known.
  sale_id uuid,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3) check (closed_at >= opened_at),
  outcome text check (outcome in ('WON', 'LOST')),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, payment_intent_id) references refunds.payment,
  constraint outcome_needs_end check (outcome is null or closed_at is not null)
);

-- Whether a dispute keeps a payment from being refunded: an open one does, and a lost one.
create index dispute_blocking on refunds.dispute (merchant_id, environment, payment_intent_id)
  where closed_at is null or outcome = 'LOST';
-- The list of disputes, newest first: all and those of a payment.
create index dispute_newest on refunds.dispute (merchant_id, environment, opened_at desc, id desc);
create index dispute_payment on refunds.dispute
  (merchant_id, environment, payment_intent_id, opened_at desc, id desc);
