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
  MERCHANT_REVIEW:
    'the customer asked for it, and the merchant is to decide until `merchantReviewDeadlineAt`.',
  SERVICE_REVIEW: "the service's operations or risk policy are to decide.",
  APPROVED_FOR_EXECUTION: 'approved; it is executed as soon as `blockedBy` is empty.',
  FUNDING_REQUIRED: 'approved, but the available balance does not cover it; it goes on when it does.',
  PROCESSING: 'debited from the balance and with the provider.',
  SUCCEEDED: 'the provider has paid it.',
  FAILED: 'the provider has not paid it, or returned it late; what was debited was given back.',
  CANCELED: 'withdrawn before it was executed.',
  REJECTED: 'refused in the review of the service.',
} as const;
const CURSOR =
  'MXwyMDI2LTExLTIwVDExOjMzOjU4LjE1M1p8MDFhMWZkYTItYzM4OS03MzY0LTkxNDAtMWRlZGQ4OWZjZGRjMFbh_G9PiKvxXwNw';
const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;
const BLOCKERS = {
  INSUFFICIENT_AVAILABLE_BALANCE: 'the available balance does not cover the refund.',
  KYC_NOT_APPROVED: "the check of the merchant's identity is not approved.",
  MERCHANT_NOT_ACTIVE: "the merchant's account is not active.",
  PAYMENT_DISPUTED: 'a dispute of the payment is open.',
  PAYMENT_NOT_LIVE: 'the payment is in no state in which it can be refunded.',
  REFUND_FREQUENCY_24H: 'more refunds of the merchant in 24 hours than go without review.',
  REFUND_VOLUME_24H: 'a larger sum of refunds of the merchant in 24 hours than goes without review.',
} as const;

const merchantDecision = closedObject(
  {
    decidedAt: nullable(dateTime('When the merchant decided; null when the deadline passed instead.')),
    decision: oneOf(['APPROVED', 'CONTESTED', 'EXPIRED'], 'What the merchant decided.'),
    reason: nullable(Type.String({ description: "The merchant's reason." })),
  },
  "The merchant's decision; null while there is none.",
);

const provider = closedObject(
  {
    refundId: nullable(Type.String({ description: "The provider's id of the refund." })),
    submissionStatus: nullable(Type.String({ description: 'Free text of the provider.' })),
    submittedAt: nullable(dateTime('When the refund was handed to the provider.')),
  },
  "The provider's side; null before execution.",
);

const refundWindow = closedObject(
  {
    days: count('Days after the payment.', 7, 90),
    expiresAt: dateTime('Until when the payment can be refunded.'),
  },
  'Until when the payment can be refunded; null where there is no window.',
);

const refundCase = resource(
  'RefundCase',
  'A review case of a refund, open or closed.',
  {
    id: uuid('Id of the case.'),
    amount: amount('What is to be refunded', 1),
    currency: oneOf(['BRL'], 'Currency of the amount.'),
    status: oneOfMeanings(STATUSES, 'State of the case.'),
    initiator: oneOf(INITIATORS, 'Who asked for the refund.'),
    approvalMode: nullable(
      oneOf(['INSTANT', 'OPERATIONS', 'RISK_POLICY'], 'How it was approved, other than by the merchant.'),
    ),
    blockedBy: Type.Array(oneOfMeanings(BLOCKERS, 'A reason.'), { description: 'What holds the case up.' }),
    evidenceCount: count('Pieces of evidence that were handed in.'),
    invoiceId: nullable(uuid('The invoice.')),
    orderId: nullable(uuid('The order.')),
    paymentIntentId: uuid('The payment that is refunded.'),
    paymentPaidAt: nullable(dateTime('When the payment was made.')),
    merchantReviewDeadlineAt: nullable(dateTime('Until when the merchant can respond, when applicable.')),
    merchantDecision: nullable(merchantDecision),
    provider: nullable(provider),
    reason: Type.String({ description: 'Why the refund was asked for.' }),
    refundWindow: nullable(refundWindow),
    requestedAt: dateTime('When the refund was asked for.'),
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
    "Open and closed cases, newest first by `requestedAt` and `id`, with the merchant's response deadline where there is one. A case must match all filters.",
  tags: ['Refunds and disputes'],
  querystring: closedObject({
    after: cursor(200, CURSOR),
    initiator: Type.Optional(
      oneOf(INITIATORS, 'Only cases that this party, the customer or the merchant, asked for.'),
    ),
    limit: pageLimit(100),
    orderId: Type.Optional(uuid('Only cases of this order.', 'e8bd0b40-9b8f-5806-a462-f243f045b7c6')),
    paymentIntentId: Type.Optional(
      uuid('Only cases of this payment.', 'ccd1840b-b454-5da2-85ca-9da89f4f7025'),
    ),
    status: Type.Optional(oneOf(namesOf(STATUSES), 'Only cases in this state.')),
  }),
  answers: 'Refund cases that match all filters, newest first; `data` is empty where there is none.',
  response: { 200: page('RefundCasePage', 'A page of the refund cases.', refundCase, CURSOR) },
  errors: {
    INVALID_REQUEST: "Query parameter 'limit' must be an integer from 1 to 100.",
    INVALID_CURSOR: true,
  },
} satisfies OperationSchema;
