import { createClient, type ServiceImpl } from '@connectrpc/connect';
import type { AdvanceService } from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AreaDependencies } from '../platform/area.ts';
import { CrossTenantDatabase } from '../platform/database/cross-tenant-database.ts';
import { approveAdvance } from './approve-advance.ts';
import { getAdvanceQuote } from './get-advance-quote.ts';
import { getAdvanceRate } from './get-advance-rate.ts';
import { getAdvanceRequest } from './get-advance-request.ts';
import { exportAdvanceRequests, listAdvanceRequests } from './list-advance-requests.ts';
import { listAdvanceQueue } from './queues/list-advance-queue.ts';
import { listProviderQueue } from './queues/list-provider-queue.ts';
import { registerWaitingRequestMetrics } from './queues/waiting-request-metrics.ts';
import { quoteAdvance } from './quote-advance.ts';
import { recordPayoutAnswer } from './record-payout-answer.ts';
import { refuseAdvance } from './refuse-advance.ts';
import { releaseAdvance } from './release-advance.ts';
import { requestAdvance } from './request-advance.ts';
import { scanAdvanceRequests } from './scan-advance-requests.ts';
import { setAdvanceRate } from './set-advance-rate.ts';
import { settleAdvance } from './settle-advance.ts';
import { registerStuckPayoutMetrics } from './stuck-payout-metrics.ts';
import { registerUnrecordedPayoutMetrics } from './unrecorded-payout-metrics.ts';

export function advanceService({
  config,
  database,
  logger,
  exports,
  pagination,
  transport,
  writes,
}: AreaDependencies): ServiceImpl<typeof AdvanceService> {
  const across = new CrossTenantDatabase(database);
  registerStuckPayoutMetrics(across);
  registerUnrecordedPayoutMetrics(across);
  registerWaitingRequestMetrics(across);
  const funds = createClient(FundsService, transport);
  const dependencies = { database, writes, funds, logger };
  const defaultRateBps = config.ADVANCE_MONTHLY_RATE_BPS;
  const terms = { defaultRateBps, validityMs: config.ADVANCE_QUOTE_VALIDITY };
  return {
    exportAdvanceRequests: (request, context) => exportAdvanceRequests(exports, request, context),
    listAdvanceRequests: (request) => listAdvanceRequests(database, pagination, request),
    getAdvanceRequest: (request) => getAdvanceRequest(database, request),
    getAdvanceRate: (request) => getAdvanceRate(database, defaultRateBps, request),
    setAdvanceRate: (request, context) => setAdvanceRate(writes, defaultRateBps, request, context),
    quoteAdvance: (request, context) => quoteAdvance(dependencies, terms, request, context),
    getAdvanceQuote: (request) => getAdvanceQuote(database, request),
    requestAdvance: (request, context) => requestAdvance(dependencies, request, context),
    approveAdvance: (request, context) => approveAdvance(writes, request, context),
    refuseAdvance: (request, context) => refuseAdvance(dependencies, request, context),
    releaseAdvance: (request, context) => releaseAdvance(dependencies, request, context),
    settleAdvance: (request, context) => settleAdvance(writes, request, context),
    recordPayoutAnswer: (request, context) => recordPayoutAnswer(dependencies, request, context),
    scanAdvanceRequests: (request, context) => scanAdvanceRequests(database, request, context),
    listAdvanceQueue: (request, context) => listAdvanceQueue(pagination, funds, request, context),
    listProviderQueue: (request) => listProviderQueue(pagination, request),
  };
}
