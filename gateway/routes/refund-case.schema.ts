import { Type } from 'typebox';
import {
  amount,
  closedObject,
  count,
  cursor,
  dateTime,
  nullable,
  oneOf,
  page,
  pageLimit,
  uuid,
} from '../schemas.ts';

const STATUSES = [
  'MERCHANT_REVIEW',
  'SERVICE_REVIEW',
  'APPROVED_FOR_EXECUTION',
  'FUNDING_REQUIRED',
  'PROCESSING',
  'SUCCEEDED',
  'FAILED',
  'CANCELED',
  'REJECTED',
] as const;
const INITIATORS = ['CUSTOMER', 'MERCHANT'] as const;
const BLOCKERS = [
  'INSUFFICIENT_AVAILABLE_BALANCE',
  'KYC_NOT_APPROVED',
  'MERCHANT_NOT_ACTIVE',
  'PAYMENT_DISPUTED',
  'PAYMENT_NOT_LIVE',
  'REFUND_FREQUENCY_24H',
  'REFUND_VOLUME_24H',
] as const;

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

const refundCase = closedObject(
  {
    id: uuid('Id of the case.'),
    amount: amount('What is to be refunded', 1),
    currency: oneOf(['BRL'], 'Currency of the amount.'),
    status: oneOf(STATUSES, 'State of the case.'),
    initiator: oneOf(INITIATORS, 'Who asked for the refund.'),
    approvalMode: nullable(
      oneOf(['INSTANT', 'OPERATIONS', 'RISK_POLICY'], 'How it was approved, other than by the merchant.'),
    ),
    blockedBy: Type.Array(oneOf(BLOCKERS, 'A reason.'), { description: 'What holds the case up.' }),
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
  'A review case of a refund, open or closed.',
);

export const refundCaseListSchema = {
  operationId: 'listRefundCases',
  summary: 'List refund cases',
  description: 'Newest first by requestedAt and id.',
  tags: ['Refunds and disputes'],
  querystring: closedObject({
    after: cursor(200),
    initiator: Type.Optional(oneOf(INITIATORS, 'Only cases that they asked for.')),
    limit: pageLimit(100),
    orderId: Type.Optional(uuid('Only cases of this order.')),
    paymentIntentId: Type.Optional(uuid('Only cases of this payment.')),
    status: Type.Optional(oneOf(STATUSES, 'Only cases in this state.')),
  }),
  response: { 200: page(refundCase) },
};
