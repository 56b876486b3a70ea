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
  -- Pieces of evidence submitted with the request, plus the rows of refunds.evidence.
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
  -- When the case entered its status.
  status_changed_at timestamptz(3) not null,
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
-- The cases of a sale, for the search by order number.
create index refund_case_sale on refunds.refund_case
  (merchant_id, environment, sale_id, requested_at desc, id desc) where sale_id is not null;
-- Cases awaiting the merchant's decision, soonest deadline first. Partial: few at a time, however many there have been.
create index refund_case_deadline on refunds.refund_case
  (merchant_id, environment, merchant_review_deadline_at, id) where status = 'MERCHANT_REVIEW';
-- The check over areas reads the open cases across merchants. Partial: few at a time.
create index refund_case_open on refunds.refund_case (merchant_id, environment, id)
  where status in ('MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING');
-- The work queue of open cases across merchants, oldest first: all, those of a status, of a merchant, and blocked ones.
-- Partial: few at a time, however many cases have been closed.
create index refund_case_queue on refunds.refund_case (requested_at, id)
  where status in ('MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING');
create index refund_case_queue_status on refunds.refund_case (status, requested_at, id)
  where status in ('MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING');
create index refund_case_queue_merchant on refunds.refund_case (merchant_id, environment, requested_at, id)
  where status in ('MERCHANT_REVIEW', 'SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED', 'PROCESSING');
create index refund_case_queue_blocked on refunds.refund_case (requested_at, id) where blocked_by <> '{}';
-- Open cases that are past their due time, across merchants. Partial: few at a time.
create index refund_case_review_deadline on refunds.refund_case (merchant_review_deadline_at)
  where status = 'MERCHANT_REVIEW';
create index refund_case_work on refunds.refund_case (status_changed_at)
  where status in ('SERVICE_REVIEW', 'APPROVED_FOR_EXECUTION', 'FUNDING_REQUIRED');
create index refund_case_to_execute on refunds.refund_case ((coalesce(execution_started_at, status_changed_at)))
  where status = 'APPROVED_FOR_EXECUTION' and blocked_by = '{}';
-- The work queue of refunds that await the provider across merchants, oldest debit first. Partial: few at a time.
create index refund_case_provider_queue on refunds.refund_case (processing_started_at, id) where status = 'PROCESSING';
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
  -- The disputed amount, and what its sale's funds are blocked for; null for the rest of the sale.
  amount_minor bigint check (amount_minor between 1 and 9007199254740991),
  reason text not null check (reason in (
    'GENERAL', 'FRAUDULENT', 'UNRECOGNIZED', 'DUPLICATE', 'PRODUCT_NOT_RECEIVED', 'PRODUCT_UNACCEPTABLE',
    'SUBSCRIPTION_CANCELED', 'CREDIT_NOT_PROCESSED')),
  opened_at timestamptz(3) not null,
  -- Until when the merchant can respond; null when it is not known.
  due_at timestamptz(3) check (due_at > opened_at),
  -- What the merchant responded, once.
  response_text text,
  responded_at timestamptz(3) check (responded_at >= opened_at and responded_at < coalesce(due_at, 'infinity')),
  -- The rows of refunds.evidence.
  evidence_count integer not null check (evidence_count >= 0),
  closed_at timestamptz(3) check (closed_at >= coalesce(responded_at, opened_at)),
  outcome text check (outcome in ('WON', 'LOST')),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, payment_intent_id) references refunds.payment,
  constraint outcome_comes_with_end check ((outcome is null) = (closed_at is null)),
  constraint response_has_time check ((response_text is null) = (responded_at is null))
);

-- Whether a dispute keeps a payment from being refunded: an open one does, and a lost one.
create index dispute_blocking on refunds.dispute (merchant_id, environment, payment_intent_id)
  where closed_at is null or outcome = 'LOST';
-- The list of disputes, newest first: all, open ones and those of a payment.
create index dispute_newest on refunds.dispute (merchant_id, environment, opened_at desc, id desc);
create index dispute_open on refunds.dispute (merchant_id, environment, opened_at desc, id desc)
  where closed_at is null;
create index dispute_payment on refunds.dispute
  (merchant_id, environment, payment_intent_id, opened_at desc, id desc);
-- Disputes awaiting the merchant's response, by due date. Partial: few at a time, however many there have been.
create index dispute_awaiting on refunds.dispute (merchant_id, environment, coalesce(due_at, opened_at), id)
  where closed_at is null and responded_at is null;
-- The work queue of open disputes across merchants, by due date. Partial: few at a time.
create index dispute_queue on refunds.dispute (coalesce(due_at, opened_at), id) where closed_at is null;

-- Files that support a refund case or a dispute. They stay with it. The content is in a table of its own, so that lists
-- never read it.
create table refunds.evidence (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  refund_case_id uuid,
  dispute_id uuid,
  file_name text not null check (file_name <> ''),
  content_type text not null check (content_type in ('application/pdf', 'image/jpeg', 'image/png')),
  size_bytes integer not null check (size_bytes between 1 and 5242880),
  sha256 bytea not null check (octet_length(sha256) = 32),
  added_at timestamptz(3) not null,
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, refund_case_id) references refunds.refund_case,
  foreign key (merchant_id, environment, dispute_id) references refunds.dispute,
  constraint evidence_belongs_to_one check (num_nonnulls(refund_case_id, dispute_id) = 1)
);

create index evidence_of_refund_case on refunds.evidence (merchant_id, environment, refund_case_id, added_at, id)
  where refund_case_id is not null;
create index evidence_of_dispute on refunds.evidence (merchant_id, environment, dispute_id, added_at, id)
  where dispute_id is not null;

create table refunds.evidence_content (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  evidence_id uuid not null,
  content bytea not null,
  primary key (merchant_id, environment, evidence_id),
  foreign key (merchant_id, environment, evidence_id) references refunds.evidence
);
-- The files are compressed already, and without another compression a chunk is read without the rest.
alter table refunds.evidence_content alter column content set storage external;
