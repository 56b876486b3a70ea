import {
  amount,
  closed,
  count,
  dateTime,
  type EventTypeDefinition,
  listOf,
  nullable,
  oneOf,
  text,
  uuid,
} from './event-type.ts';

const merchantDecision = closed("The merchant's decision; null while there is none.", {
  decidedAt: nullable(dateTime('When the merchant decided; null when the deadline passed instead.')),
  decision: oneOf('What the merchant decided.', 'APPROVED', 'CONTESTED', 'EXPIRED'),
  reason: nullable(text("The merchant's reason.")),
});

const providerSide = closed("The provider's side; null before execution.", {
  refundId: nullable(text("The provider's id of the refund.")),
  submissionStatus: nullable(text('Free text of the provider.')),
  submittedAt: nullable(dateTime('When the refund was submitted to the provider.')),
});

const refundWindow = closed('Until when the payment can be refunded; null where there is no window.', {
  days: count('Days after the payment.', 7, 90),
  expiresAt: dateTime('Until when the payment can be refunded.'),
});

const refundCase = closed('The case after the change.', {
  id: uuid('Id of the case.'),
  amount: amount('What is to be refunded', 1),
  currency: oneOf('Currency of the amount.', 'BRL'),
  status: oneOf(
    'State of the case.',
    'MERCHANT_REVIEW',
    'SERVICE_REVIEW',
    'APPROVED_FOR_EXECUTION',
    'FUNDING_REQUIRED',
    'PROCESSING',
    'SUCCEEDED',
    'FAILED',
    'CANCELED',
    'REJECTED',
  ),
  initiator: oneOf('Who requested the refund.', 'CUSTOMER', 'MERCHANT'),
  approvalMode: nullable(
    oneOf(
      'How it was approved or rejected, if not by the merchant. INSTANT from the beginning, even if a limit or a dispute requires a review.',
      'INSTANT',
      'OPERATIONS',
      'RISK_POLICY',
    ),
  ),
  blockedBy: listOf(
    'What blocks the case.',
    oneOf(
      'A reason.',
      'INSUFFICIENT_AVAILABLE_BALANCE',
      'KYC_NOT_APPROVED',
      'MERCHANT_NOT_ACTIVE',
      'PAYMENT_DISPUTED',
      'PAYMENT_NOT_LIVE',
      'REFUND_FREQUENCY_24H',
      'REFUND_VOLUME_24H',
    ),
  ),
  evidenceCount: count('Pieces of evidence submitted.'),
  invoiceId: nullable(uuid('The invoice.')),
  orderId: nullable(uuid('The order.')),
  paymentIntentId: uuid('The payment that is refunded.'),
  paymentPaidAt: nullable(dateTime('When the payment was made.')),
  merchantReviewDeadlineAt: nullable(dateTime('Until when the merchant can respond, when applicable.')),
  merchantDecision: nullable(merchantDecision),
  provider: nullable(providerSide),
  reason: text('Why the refund was requested.'),
  refundWindow: nullable(refundWindow),
  requestedAt: dateTime('When the refund was requested.'),
  updatedAt: dateTime('When the case last changed.'),
});

const requested = {
  id: '0197c9f2-8f3a-7d10-9b1e-0d5f3f1c2a01',
  amount: 4800,
  currency: 'BRL',
  status: 'MERCHANT_REVIEW',
  initiator: 'CUSTOMER',
  approvalMode: null,
  blockedBy: [] as string[],
  evidenceCount: 0,
  invoiceId: null,
  orderId: '0197c9e0-1c52-7f3b-8a77-6f2b9f0f4e10',
  paymentIntentId: '0197c9e0-2a11-7c04-b0a3-3a6c2d7e5b20',
  paymentPaidAt: '2026-07-02T13:05:00.000Z',
  merchantReviewDeadlineAt: '2026-07-09T14:00:00.000Z' as string | null,
  merchantDecision: null as Record<string, unknown> | null,
  provider: null as Record<string, unknown> | null,
  reason: 'The product did not arrive',
  refundWindow: { days: 30, expiresAt: '2026-08-01T13:05:00.000Z' },
  requestedAt: '2026-07-02T14:00:00.000Z',
  updatedAt: '2026-07-02T14:00:00.000Z',
};
const approved = {
  ...requested,
  status: 'APPROVED_FOR_EXECUTION',
  merchantDecision: { decidedAt: '2026-07-03T09:30:00.000Z', decision: 'APPROVED', reason: null },
  updatedAt: '2026-07-03T09:30:00.000Z',
};
const provider = { refundId: null, submissionStatus: null, submittedAt: null };
const submitted = {
  refundId: 're_5521',
  submissionStatus: 'accepted',
  submittedAt: '2026-07-03T09:30:05.000Z',
};

const refund = (
  verb: string,
  description: string,
  changes: Partial<Record<keyof typeof requested, unknown>>,
  base: typeof requested = approved as typeof requested,
): EventTypeDefinition => ({
  name: `refund.${verb}.v1`,
  description,
  schema: refundCase,
  example: { ...base, ...changes },
});

/** Events of refund cases; `data` is the case as GET /v1/refund-cases shows it. */
export const REFUND_EVENT_TYPES: readonly EventTypeDefinition[] = [
  refund('requested', 'A refund case was opened.', {}, requested),
  refund('merchant_decided', 'The merchant decided on a case, or its deadline passed.', {}),
  refund('approved', 'A case was approved for execution.', {}),
  refund(
    'review_started',
    'A case went to service review.',
    { status: 'SERVICE_REVIEW', blockedBy: ['PAYMENT_DISPUTED'], merchantReviewDeadlineAt: null },
    requested,
  ),
  refund('deadline_approaching', 'The merchant has little time left to decide.', {}, requested),
  refund('funding_required', 'The available balance does not suffice for a refund.', {
    status: 'FUNDING_REQUIRED',
    blockedBy: ['INSUFFICIENT_AVAILABLE_BALANCE'],
  }),
  refund('processing', 'A refund was debited and goes to the provider.', { status: 'PROCESSING', provider }),
  refund('succeeded', 'The provider has paid a refund.', { status: 'SUCCEEDED', provider: submitted }),
  refund('failed', 'The provider has not paid a refund; its debit is reversed.', {
    status: 'FAILED',
    provider: submitted,
  }),
  refund('canceled', 'A case was canceled before execution.', { status: 'CANCELED' }, requested),
  refund('rejected', 'A case was rejected in service review.', {
    status: 'REJECTED',
    approvalMode: 'OPERATIONS',
    merchantDecision: {
      decidedAt: '2026-07-03T09:30:00.000Z',
      decision: 'CONTESTED',
      reason: 'Delivered and signed for',
    },
  }),
];
