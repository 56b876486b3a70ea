import { Type } from 'typebox';
import type { OperationSchema } from './operation.ts';
import {
  amount,
  closedObject,
  count,
  cursor,
  dateTime,
  namesOf,
  nullable,
  oneOf,
  oneOfMeanings,
  page,
  pageLimit,
  resource,
  uuid,
} from './schemas.ts';

const STATUSES = {
  MERCHANT_REVIEW: 'requested by the customer; the merchant has to decide by `merchantReviewDeadlineAt`.',
  SERVICE_REVIEW: "awaiting a decision by the service's operations team or risk policy.",
  APPROVED_FOR_EXECUTION: 'approved; executed as soon as `blockedBy` is empty.',
  FUNDING_REQUIRED: 'approved, but the available balance does not cover it; continues when it does.',
  PROCESSING: 'debited from the balance and submitted to the provider.',
  SUCCEEDED: 'paid by the provider.',
  FAILED: 'not paid by the provider, or returned later; the debit was reversed.',
  CANCELED: 'canceled before execution.',
  REJECTED: "rejected in the service's review.",
} as const;
const CURSOR =
  'MXwyMDI2LTExLTIwVDExOjMzOjU4LjE1M1p8MDFhMWZkYTItYzM4OS03MzY0LTkxNDAtMWRlZGQ4OWZjZGRjMFbh_G9PiKvxXwNw';
const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;
const BLOCKERS = {
  INSUFFICIENT_AVAILABLE_BALANCE: 'the available balance does not cover the refund.',
  KYC_NOT_APPROVED: "the merchant's identity check is not approved.",
  MERCHANT_NOT_ACTIVE: "the merchant's account is not active.",
  PAYMENT_DISPUTED: 'the payment has an open dispute, or lost ones have not left enough of it.',
  PAYMENT_NOT_LIVE: 'the payment is not in a refundable state.',
  REFUND_FREQUENCY_24H: 'the merchant exceeded the number of refunds per 24 hours that need no review.',
  REFUND_VOLUME_24H: 'the merchant exceeded the total amount of refunds per 24 hours that needs no review.',
} as const;

const merchantDecision = closedObject(
  {
    decidedAt: nullable(dateTime('When the merchant decided; null if the deadline passed instead.')),
    decision: oneOf(['APPROVED', 'CONTESTED', 'EXPIRED'], 'What the merchant decided.'),
    reason: nullable(Type.String({ description: "The merchant's reason." })),
  },
  "The merchant's decision; null until there is one.",
);

const provider = closedObject(
  {
    refundId: nullable(Type.String({ description: "The provider's id of the refund." })),
    submissionStatus: nullable(Type.String({ description: 'Free text from the provider.' })),
    submittedAt: nullable(dateTime('When the refund was submitted to the provider.')),
  },
  'The refund at the provider; null before execution.',
);

const refundWindow = closedObject(
  {
    days: count('Length of the refund window in days after the payment.', 7, 90),
    expiresAt: dateTime('When the refund window ends.'),
  },
  'The refund window of the payment; null if it has none.',
);

const refundCase = resource(
  'RefundCase',
  'A refund case, open or closed.',
  {
    id: uuid('Id of the case.'),
    amount: amount('The amount to refund', 1),
    currency: oneOf(['BRL'], 'Currency of the amount.'),
    status: oneOfMeanings(STATUSES, 'State of the case.'),
    initiator: oneOf(INITIATORS, 'Who requested the refund.'),
    approvalMode: nullable(
      oneOf(
        ['INSTANT', 'OPERATIONS', 'RISK_POLICY'],
        'How it was approved or rejected, if not by the merchant. `INSTANT` from the beginning, even if a limit or a dispute requires a review.',
      ),
    ),
    blockedBy: Type.Array(oneOfMeanings(BLOCKERS, 'A reason.'), {
      description: 'What blocks the execution of the refund.',
    }),
    evidenceCount: count('Number of pieces of evidence submitted.'),
    invoiceId: nullable(uuid('The invoice.')),
    orderId: nullable(uuid('The order.')),
    paymentIntentId: uuid('The payment that is refunded.'),
    paymentPaidAt: nullable(dateTime('When the payment was made.')),
    merchantReviewDeadlineAt: nullable(
      dateTime("The deadline for the merchant's response, if there is one."),
    ),
    merchantDecision: nullable(merchantDecision),
    provider: nullable(provider),
    reason: Type.String({ description: 'Why the refund was requested.' }),
    refundWindow: nullable(refundWindow),
    requestedAt: dateTime('When the refund was requested.'),
    updatedAt: dateTime('When the case last changed.'),
  },
  {
    id: '01a1fda2-c5b0-7246-9a2f-d4027f4cdd9a',
    amount: 2_927,
    currency: 'BRL',
    status: 'REJECTED',
    initiator: 'CUSTOMER',
    approvalMode: 'OPERATIONS',
    blockedBy: [],
    evidenceCount: 0,
    invoiceId: null,
    orderId: 'e8bd0b40-9b8f-5806-a462-f243f045b7c6',
    paymentIntentId: 'ccd1840b-b454-5da2-85ca-9da89f4f7025',
    paymentPaidAt: '2026-11-14T10:56:05.169Z',
    merchantReviewDeadlineAt: '2026-11-24T10:56:05.169Z',
    merchantDecision: {
      decidedAt: '2026-11-17T22:56:05.169Z',
      decision: 'CONTESTED',
      reason: 'Pedido entregue e assinado',
    },
    provider: null,
    reason: 'Produto não chegou',
    refundWindow: { days: 7, expiresAt: '2026-11-21T10:56:05.169Z' },
    requestedAt: '2026-11-17T10:56:05.169Z',
    updatedAt: '2026-11-18T06:08:05.169Z',
  },
);

export const refundCaseListSchema = {
  operationId: 'listRefundCases',
  scope: 'refunds:read',
  summary: 'List refund cases',
  description:
    "Open and closed cases, newest first by `requestedAt` and `id`, with the merchant's response deadline if there is one. Filters combine with AND.",
  tags: ['Refunds and disputes'],
  querystring: closedObject({
    after: cursor(200, CURSOR),
    initiator: Type.Optional(
      oneOf(INITIATORS, 'Only cases requested by this party: the customer or the merchant.'),
    ),
    limit: pageLimit(100),
    orderId: Type.Optional(uuid('Only cases for this order.', 'e8bd0b40-9b8f-5806-a462-f243f045b7c6')),
    paymentIntentId: Type.Optional(
      uuid('Only cases for this payment.', 'ccd1840b-b454-5da2-85ca-9da89f4f7025'),
    ),
    status: Type.Optional(oneOf(namesOf(STATUSES), 'Only cases in this state.')),
  }),
  successDescription: 'Refund cases that match all filters, newest first; `data` is empty if there are none.',
  response: { 200: page('RefundCasePage', 'A page of the refund cases.', refundCase, CURSOR) },
  errors: {
    INVALID_REQUEST: "Query parameter 'limit' must be an integer from 1 to 100.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;
