import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, expect, it } from 'vitest';
import { AdvanceRequestStatus, AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import {
  PaymentMethod,
  PriceInterval,
  PriceType,
  ProductService,
  ProductStatus,
  ProductType,
} from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { BlockReason, FundsReleaseStatus, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  ApprovalMode,
  MerchantDecisionKind,
  RefundBlocker,
  RefundCaseService,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  SubscriptionErrorCause,
  WebhookSubscriptionService,
  WebhookSubscriptionState,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call } from './http-call.ts';

/** Every member is present in one message and every one that may be missing is missing in the other. */

const MAX = 9_007_199_254_740_991n;
const ID = (n: number) => `019a3f4e-8b1c-7d2e-9f3a-00000000000${n}`;
const AT = '2026-11-21T12:30:45.007Z';
const at = timestampFromDate(new Date(AT));
const HOSTILE = 'quote " backslash \\ newline \n NUL \u0000 line \u2028 ação 👍';

const fullCase = {
  id: ID(1),
  amountMinor: MAX,
  currency: 'BRL',
  status: RefundCaseStatus.SUCCEEDED,
  initiator: RefundInitiator.CUSTOMER,
  approvalMode: ApprovalMode.RISK_POLICY,
  evidenceCount: 3,
  blockedBy: [RefundBlocker.KYC_NOT_APPROVED, RefundBlocker.REFUND_VOLUME_24H],
  invoiceId: ID(2),
  orderId: ID(3),
  paymentIntentId: ID(4),
  paymentPaidAt: at,
  reason: HOSTILE,
  merchantReviewDeadlineAt: at,
  merchantDecision: { decidedAt: at, decision: MerchantDecisionKind.CONTESTED, reason: HOSTILE },
  provider: { refundId: 'r-1', submissionStatus: 'ok', submittedAt: at },
  refundWindow: { days: 7, expiresAt: at },
  requestedAt: at,
  updatedAt: at,
};
const bareCase = {
  id: ID(1),
  amountMinor: 1n,
  currency: 'BRL',
  status: RefundCaseStatus.MERCHANT_REVIEW,

  initiator: RefundInitiator.MERCHANT,
  paymentIntentId: ID(4),
  reason: '',
  requestedAt: at,
  updatedAt: at,
};
const emptyInside = {
  ...bareCase,
  merchantDecision: { decision: MerchantDecisionKind.EXPIRED },
  provider: {},
};
const bareCaseJson = {
  id: ID(1),
  amount: 1,
  currency: 'BRL',
  status: 'MERCHANT_REVIEW',
  initiator: 'MERCHANT',
  approvalMode: null,
  blockedBy: [],
  evidenceCount: 0,
  invoiceId: null,
  orderId: null,
  paymentIntentId: ID(4),
  paymentPaidAt: null,
  merchantReviewDeadlineAt: null,
  merchantDecision: null,
  provider: null,
  reason: '',
  refundWindow: null,
  requestedAt: AT,
  updatedAt: AT,
};
const fullCaseJson = {
  id: ID(1),
  amount: Number(MAX),
  currency: 'BRL',
  status: 'SUCCEEDED',
  initiator: 'CUSTOMER',
  approvalMode: 'RISK_POLICY',
  blockedBy: ['KYC_NOT_APPROVED', 'REFUND_VOLUME_24H'],
  evidenceCount: 3,
  invoiceId: ID(2),
  orderId: ID(3),
  paymentIntentId: ID(4),
  paymentPaidAt: AT,
  merchantReviewDeadlineAt: AT,
  merchantDecision: { decidedAt: AT, decision: 'CONTESTED', reason: HOSTILE },
  provider: { refundId: 'r-1', submissionStatus: 'ok', submittedAt: AT },
  reason: HOSTILE,
  refundWindow: { days: 7, expiresAt: AT },
  requestedAt: AT,
  updatedAt: AT,
};

const bareProduct = {
  id: ID(1),
  environment: Environment.LIVE,
  name: HOSTILE,
  productType: ProductType.ONE_TIME,
  status: ProductStatus.DRAFT,
  refundWindowDays: 7,
  createdAt: at,
  updatedAt: at,
};
const barePrice = {
  id: ID(2),
  currency: 'BRL',
  amountMinor: 1n,
  type: PriceType.ONE_TIME,
  maxInstallments: 1,
  createdAt: at,
};
const fullPrice = {
  ...barePrice,
  id: ID(3),
  amountMinor: MAX,
  type: PriceType.RECURRING,
  interval: PriceInterval.YEAR,
  intervalCount: 2,
  trialDays: 0,
};
const bareOffer = {
  id: ID(4),
  priceId: ID(2),
  name: 'o',
  checkoutUrl: 'https://a/',
  paymentMethods: [PaymentMethod.CARD],
  maxInstallments: 1,
  startsAt: at,
};
const fullProduct = {
  ...bareProduct,
  description: '',
  imageAssetId: ID(5),
  imageUrl: 'https://a/i',
  archivedAt: at,
  prices: [barePrice, fullPrice],
  offers: [bareOffer, { ...bareOffer, endsAt: at, paymentMethods: [PaymentMethod.INSTANT_TRANSFER] }],
};
const bareProductJson = {
  id: ID(1),
  name: HOSTILE,
  environment: 'live',
  productType: 'ONE_TIME',
  status: 'DRAFT',
  refundWindowDays: 7,
  createdAt: AT,
  updatedAt: AT,
  prices: [],
  offers: [],
};
const barePriceJson = {
  id: ID(2),
  currency: 'BRL',
  amountMinor: 1,
  type: 'ONE_TIME',
  maxInstallments: 1,
  createdAt: AT,
};
const bareOfferJson = {
  id: ID(4),
  priceId: ID(2),
  name: 'o',
  checkoutUrl: 'https://a/',
  paymentMethods: ['CARD'],
  maxInstallments: 1,
  startsAt: AT,
};
const fullProductJson = {
  ...bareProductJson,
  description: '',
  imageAssetId: ID(5),
  imageUrl: 'https://a/i',
  archivedAt: AT,
  prices: [
    barePriceJson,
    {
      ...barePriceJson,
      id: ID(3),
      amountMinor: Number(MAX),
      type: 'RECURRING',
      interval: 'YEAR',
      intervalCount: 2,
      trialDays: 0,
    },
  ],
  offers: [bareOfferJson, { ...bareOfferJson, endsAt: AT, paymentMethods: ['INSTANT_TRANSFER'] }],
};

const bareRequest = {
  id: ID(1),
  quoteId: ID(2),
  scheduleId: ID(3),
  amountMinor: MAX,
  feeAmountMinor: 1n,
  netAmountMinor: MAX - 1n,
  status: AdvanceRequestStatus.PENDING_REVIEW,
  requestedAt: at,
};
const bareRequestJson = {
  id: ID(1),
  quoteId: ID(2),
  scheduleId: ID(3),
  amount: Number(MAX),
  feeAmount: 1,
  netAmount: Number(MAX) - 1,
  status: 'PENDING_REVIEW',
  requestedAt: AT,
};

let full = false;
const gateways = await startGateways({ RATE_LIMIT_LIVE: '1000', SERVICES: 'api-keys' }, (router) => {
  const nextPageToken = () => (full ? 'next' : '');
  router.service(RefundCaseService, {
    listRefundCases: () => ({
      refundCases: full ? [fullCase, emptyInside] : [bareCase],
      nextPageToken: nextPageToken(),
    }),
  });
  router.service(ProductService, { getProduct: () => ({ product: full ? fullProduct : bareProduct }) });
  router.service(FundsService, {
    listFundsReleases: () => ({
      releases: [
        {
          date: '2026-11-21',
          status: FundsReleaseStatus.BLOCKED,
          originalAmountMinor: MAX,
          salesCount: 2,
          grossAllocatedAmountMinor: MAX,
          feesAllocatedAmountMinor: 1n,
          deductionsAmountMinor: 2n,

          advancedAmountMinor: 3n,
          blockedAmountMinor: 4n,
          releasedAmountMinor: 5n,
          scheduledAmountMinor: 6n,
          blockedReasons: full ? [BlockReason.HOLD_OR_DISPUTE, BlockReason.COMPLIANCE_HOLD] : [],
        },
      ],
      nextPageToken: nextPageToken(),
      timezone: 'America/Sao_Paulo',
    }),
    getReleaseCalendar: () => ({
      days: [
        {
          date: '2026-11-21',
          releasedAmountMinor: MAX,
          scheduledAmountMinor: 1n,
          advancedAmountMinor: 2n,
          deductionsAmountMinor: 3n,
          salesCount: 4,
          hasBlockedFunds: full,
        },
      ],
      month: '2026-11',
      timezone: 'America/Sao_Paulo',
    }),
  });
  router.service(AdvanceService, {
    listAdvanceRequests: () => ({
      advanceRequests: [
        full
          ? {
              ...bareRequest,
              status: AdvanceRequestStatus.SETTLED,
              reviewedAt: at,
              reviewReason: '',
              releasedAt: at,
            }
          : bareRequest,
      ],
      nextPageToken: nextPageToken(),
    }),
  });
  router.service(WebhookSubscriptionService, {
    listWebhookSubscriptions: () => ({
      subscriptions: [
        {
          id: ID(1),
          merchantId: ID(2),
          environment: Environment.TEST,
          url: 'https://a/',
          createdAt: at,
          eventTypes: ['refund.requested.v1'],
          state: WebhookSubscriptionState.ERROR,
          error: { cause: SubscriptionErrorCause.DELIVERY_EXHAUSTED, attempts: 4, since: at },
          disabledAt: at,
        },
      ],
      nextPageToken: nextPageToken(),
    }),
  });
});
afterAll(() => gateways.close());

const release = {
  date: '2026-11-21',
  status: 'BLOCKED',
  originalAmountMinor: Number(MAX),
  grossAllocatedAmountMinor: Number(MAX),
  feesAllocatedAmountMinor: 1,
  deductionsAmountMinor: 2,
  advancedAmountMinor: 3,
  blockedAmountMinor: 4,
  releasedAmountMinor: 5,
  scheduledAmountMinor: 6,
  salesCount: 2,
};
const day = {
  date: '2026-11-21',
  releasedAmountMinor: Number(MAX),
  scheduledAmountMinor: 1,
  advancedAmountMinor: 2,
  deductionsAmountMinor: 3,
  salesCount: 4,
};
const subscription = {
  id: ID(1),
  url: 'https://a/',
  eventTypes: ['refund.requested.v1'],
  environment: 'test',
  state: 'ERROR',
};
const timezone = 'America/Sao_Paulo';

const key = (await newMerchant(gateways)).keys.live;
const end = { hasMore: false, nextCursor: null };
const more = { hasMore: true, nextCursor: 'next' };

it.each([
  ['/v1/refund-cases', { data: [bareCaseJson], ...end }, false],
  [
    '/v1/refund-cases',
    {
      data: [
        fullCaseJson,
        {
          ...bareCaseJson,
          merchantDecision: { decidedAt: null, decision: 'EXPIRED', reason: null },
          provider: { refundId: null, submissionStatus: null, submittedAt: null },
        },
      ],
      ...more,
    },
    true,
  ],
  [`/v1/products/${ID(1)}`, bareProductJson, false],
  [`/v1/products/${ID(1)}`, fullProductJson, true],
  ['/v1/funds/releases', { data: [{ ...release, blockedReasons: [] }], ...end, timezone }, false],
  [
    '/v1/funds/releases',
    { data: [{ ...release, blockedReasons: ['HOLD_OR_DISPUTE', 'COMPLIANCE_HOLD'] }], ...more, timezone },
    true,
  ],
  [
    '/v1/funds/releases/calendar',
    { days: [{ ...day, hasBlockedFunds: true }], month: '2026-11', timezone },
    true,
  ],
  ['/v1/advance/requests', { data: [bareRequestJson] }, false],
  [
    '/v1/advance/requests',
    {
      data: [{ ...bareRequestJson, status: 'SETTLED', reviewedAt: AT, reviewReason: '', releasedAt: AT }],
      nextCursor: 'next',
    },
    true,
  ],
  ['/v1/webhook-subscriptions', { data: [subscription], ...end }, false],
  ['/v1/webhook-subscriptions', { data: [subscription], ...more }, true],
])('%s returns exactly its documented members', async (path, expected, everything) => {
  full = everything;
  const answer = await call(gateways.ports.live, path, { key });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(answer.json).toStrictEqual(JSON.parse(JSON.stringify(expected)));
});
