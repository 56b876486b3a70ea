import { createClient, type ServiceImpl } from '@connectrpc/connect';
import { ProductService } from '../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RefundCaseService } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { CrossTenantDatabase } from '../platform/database/cross-tenant-database.ts';
import { Slots, UPLOADS } from '../platform/process/slots.ts';
import { addBlocker } from './add-blocker.ts';
import { cancelRefundCase } from './cancel-refund-case.ts';
import { clearBlocker } from './clear-blocker.ts';
import { closeDispute } from './disputes/close-dispute.ts';
import { getDispute } from './disputes/get-dispute.ts';
import { exportDisputes, listDisputes } from './disputes/list-disputes.ts';
import { openDispute } from './disputes/open-dispute.ts';
import { recordResponseSubmission } from './disputes/record-response-submission.ts';
import { respondToDispute } from './disputes/respond-to-dispute.ts';
import { reverseDispute } from './disputes/reverse-dispute.ts';
import { scanDisputes } from './disputes/scan-disputes.ts';
import { addEvidence } from './evidence/add-evidence.ts';
import { getEvidence } from './evidence/get-evidence.ts';
import { listEvidence } from './evidence/list-evidence.ts';
import { beginRefundExecution } from './execution/begin-refund-execution.ts';
import { registerProviderSilenceMetrics } from './execution/provider-silence-metrics.ts';
import { recordProviderOutcome } from './execution/record-provider-outcome.ts';
import { recordRefundDebit } from './execution/record-refund-debit.ts';
import { startRefund } from './execution/start-refund.ts';
import { getRefundCase } from './get-refund-case.ts';
import { exportRefundCases, listRefundCases } from './list-refund-cases.ts';
import { openRefundCase } from './open-refund-case.ts';
import { getPayment } from './payments/get-payment.ts';
import { listDisputeQueue } from './queues/list-dispute-queue.ts';
import { listProviderQueue } from './queues/list-provider-queue.ts';
import { listRefundCaseQueue } from './queues/list-refund-case-queue.ts';
import { registerOverdueCaseMetrics } from './queues/overdue-case-metrics.ts';
import { registerOverdueDisputeMetrics } from './queues/overdue-dispute-metrics.ts';
import { announceReviewDeadline } from './review/announce-review-deadline.ts';
import { decideRefundCase } from './review/decide-refund-case.ts';
import { expireMerchantReview } from './review/expire-merchant-review.ts';
import { reviewRefundCase } from './review/review-refund-case.ts';
import { scanRefundCases } from './scan-refund-cases.ts';

/** The RPCs of refund cases. */
export function refundCaseService({
  config,
  database,
  exports,
  logger,
  pagination,
  transport,
  writes,
}: AreaDependencies): ServiceImpl<typeof RefundCaseService> {
  const limits = {
    maxCount24h: config.REFUND_FREQUENCY_LIMIT_24H,
    maxAmountMinor24h: BigInt(config.REFUND_VOLUME_LIMIT_24H),
  };
  const silentAfterMs = config.PROVIDER_SILENT_AFTER;
  const across = new CrossTenantDatabase(database);
  registerProviderSilenceMetrics(across, silentAfterMs);
  const products = createClient(ProductService, transport);
  const sales = { database, funds: createClient(FundsService, transport) };
  const execution = config.REFUND_EXECUTION;
  const workDueAfterMs = config.REFUND_WORK_DUE_AFTER;
  const rules = { execution, workDueAfterMs, silentAfterMs };
  registerOverdueCaseMetrics(across, rules);
  const outcomeDueAfterMs = config.DISPUTE_OUTCOME_DUE_AFTER;
  registerOverdueDisputeMetrics(across, { outcomeDueAfterMs, workDueAfterMs });
  const slots = new Slots(UPLOADS);
  const decision = { writes, limits, execution };
  const notice = { writes, noticeMs: config.REFUND_DEADLINE_NOTICE };
  const opening = {
    ...decision,
    products,
    sales,
    merchantReviewPeriodMs: config.MERCHANT_REVIEW_PERIOD,
  };
  return {
    exportDisputes: (request, context) => exportDisputes({ ...sales, exports }, request, context),
    exportRefundCases: (request, context) => exportRefundCases(exports, request, context),
    listRefundCases: (request) => listRefundCases(database, pagination, request),
    getRefundCase: (request) => getRefundCase(database, request),
    getPayment: (request, context) => getPayment(sales, request, context),
    openRefundCase: (request, context) => openRefundCase(opening, request, context),
    decideRefundCase: (request, context) => decideRefundCase(decision, request, context),
    expireMerchantReview: (request, context) => expireMerchantReview(writes, request, context),
    reviewRefundCase: (request, context) => reviewRefundCase(decision, request, context),
    announceReviewDeadline: (request, context) => announceReviewDeadline(notice, request, context),
    openDispute: (request, context) => openDispute(notice, request, context),
    respondToDispute: (request, context) => respondToDispute(writes, request, context),
    recordResponseSubmission: (request, context) => recordResponseSubmission(writes, request, context),
    closeDispute: (request, context) => closeDispute({ ...sales, writes }, request, context),
    reverseDispute: (request, context) => reverseDispute(writes, request, context),
    getDispute: (request) => getDispute(database, request),
    listDisputes: (request, context) => listDisputes({ ...sales, pagination }, request, context),
    addEvidence: (requests, context) => addEvidence({ writes, slots }, requests, context),
    listEvidence: (request) => listEvidence(database, request),
    getEvidence: (request, context) => getEvidence({ database, writes }, request, context),
    scanRefundCases: (request, context) => scanRefundCases(database, request, context),
    scanDisputes: (request, context) => scanDisputes(database, request, context),
    listRefundCaseQueue: (request) => listRefundCaseQueue(pagination, rules, request),
    listDisputeQueue: (request) => listDisputeQueue(pagination, request),
    listProviderQueue: (request) => listProviderQueue(pagination, rules, request),
    addBlocker: (request, context) => addBlocker(writes, request, context),
    clearBlocker: (request, context) => clearBlocker(decision, request, context),
    startRefund: (request, context) => startRefund(writes, request, context),
    beginRefundExecution: (request, context) => beginRefundExecution(writes, request, context),
    recordRefundDebit: (request, context) => recordRefundDebit(writes, request, context),
    recordProviderOutcome: (request, context) => recordProviderOutcome({ writes, logger }, request, context),
    cancelRefundCase: (request, context) => cancelRefundCase(writes, request, context),
  };
}
