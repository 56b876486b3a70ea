import {
  ApprovalMode,
  MerchantDecisionKind,
  RefundBlocker,
  type RefundCase,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { jsonTimestamp, nullableTimestamp } from '../http/json-timestamp.ts';
import { pageJson, pageRequest } from '../http/pages.ts';
import { operation } from './operation.ts';
import { refundCaseListSchema } from './refund-case.schema.ts';

export function refundsRoutes(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.get('/v1/refund-cases', operation(access, refundCaseListSchema), async (request) => {
    const { initiator, orderId, paymentIntentId, status } = request.query;
    const { refundCases, nextPageToken } = await clients.refundCases.listRefundCases(
      {
        ...request.caller.tenant,
        initiator: initiator && RefundInitiator[initiator],
        orderId: orderId?.toLowerCase(),
        paymentIntentId: paymentIntentId?.toLowerCase(),
        status: status && RefundCaseStatus[status],
        ...pageRequest(request.query),
      },
      callFor(request),
    );
    return pageJson(refundCases.map(refundCaseJson), nextPageToken);
  });
}

function refundCaseJson(refundCase: RefundCase) {
  const { merchantDecision, provider, refundWindow } = refundCase;
  return {
    id: refundCase.id,
    amount: refundCase.amountMinor,
    currency: refundCase.currency as 'BRL',
    status: enumName(RefundCaseStatus, refundCase.status),
    initiator: enumName(RefundInitiator, refundCase.initiator),
    approvalMode:
      refundCase.approvalMode === undefined ? null : enumName(ApprovalMode, refundCase.approvalMode),
    blockedBy: refundCase.blockedBy.map((blocker) => enumName(RefundBlocker, blocker)),
    evidenceCount: refundCase.evidenceCount,
    invoiceId: refundCase.invoiceId ?? null,
    orderId: refundCase.orderId ?? null,
    paymentIntentId: refundCase.paymentIntentId,
    paymentPaidAt: nullableTimestamp(refundCase.paymentPaidAt),
    merchantReviewDeadlineAt: nullableTimestamp(refundCase.merchantReviewDeadlineAt),
    merchantDecision: merchantDecision
      ? {
          decidedAt: nullableTimestamp(merchantDecision.decidedAt),
          decision: enumName(MerchantDecisionKind, merchantDecision.decision),
          reason: merchantDecision.reason ?? null,
        }
      : null,
    provider: provider
      ? {
          refundId: provider.refundId ?? null,
          submissionStatus: provider.submissionStatus ?? null,
          submittedAt: nullableTimestamp(provider.submittedAt),
        }
      : null,
    reason: refundCase.reason,
    refundWindow: refundWindow
      ? { days: refundWindow.days, expiresAt: jsonTimestamp(refundWindow.expiresAt!) }
      : null,
    requestedAt: jsonTimestamp(refundCase.requestedAt!),
    updatedAt: jsonTimestamp(refundCase.updatedAt!),
  };
}
