create schema refunds;

-- What the first refund case of a payment fixes about it; before that case there is no row, unless a dispute came
-- first. The row's lock puts the payment's new cases and disputes in a line.
create table refunds.payment (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  paid_amount_minor bigint check (paid_amount_minor between 1 and 9007199254740991),
  paid_at timestamptz(3),
  refund_window_days integer check (refund_window_days between 7 and 90),
  product_id uuid,
  sale_id uuid,
  order_id uuid,
  invoice_id uuid,
  primary key (merchant_id, environment, id)
);

-- The payment's facts stand here again, as they never change: the list of cases reads one table.
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
  merchant_decision text check (merchant_decision in ('APPROVED', 'CONTESTED', 'EXPIRED')),
  merchant_decided_at timestamptz(3),
  merchant_decision_reason text,
  executions integer not null check (executions >= 0),
  execution_started_at timestamptz(3),
  processing_started_at timestamptz(3),
  provider_refund_id text,
  provider_submission_status text,
  provider_submitted_at timestamptz(3),
  requested_at timestamptz(3) not null,
  updated_at timestamptz(3) not null check (updated_at >= requested_at),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, payment_intent_id) references refunds.payment,
  check (status not in ('PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELED', 'REJECTED') or blocked_by = '{}'),
  check ((status = 'FUNDING_REQUIRED') = ('INSUFFICIENT_AVAILABLE_BALANCE' = any (blocked_by))),
  check ((status in ('PROCESSING', 'SUCCEEDED', 'FAILED')) = (processing_started_at is not null)),
  check (processing_started_at is not null or coalesce(provider_refund_id, provider_submission_status) is null),
  check (processing_started_at is not null or provider_submitted_at is null),
  check (status = 'APPROVED_FOR_EXECUTION' or execution_started_at is null),
  check (initiator = 'CUSTOMER' or merchant_review_deadline_at is null),
  check (merchant_decision is null or merchant_review_deadline_at is not null),
  check ((merchant_decision in ('APPROVED', 'CONTESTED')) is true = (merchant_decided_at is not null)),
  check ((refund_window_expires_at is null) = (payment_paid_at is null or refund_window_days is null))
);

-- One index for each way the list is filtered, all in its order.
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

create table refunds.dispute (
  merchant_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  id uuid not null,
  payment_intent_id uuid not null,
  opened_at timestamptz(3) not null,
  closed_at timestamptz(3) check (closed_at >= opened_at),
  primary key (merchant_id, environment, id),
  foreign key (merchant_id, environment, payment_intent_id) references refunds.payment
);
create index dispute_open on refunds.dispute (merchant_id, environment, payment_intent_id) where closed_at is null;
