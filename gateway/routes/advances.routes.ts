import {
  type AdvanceRequest,
  AdvanceRequestStatus,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { jsonTimestamp, optionalTimestamp } from '../http/json-timestamp.ts';
import { pageRequest } from '../http/pages.ts';
import { advanceRequestListSchema } from './advance-request.schema.ts';
import { operation } from './operation.ts';

export function advancesRoutes(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.get('/v1/advance/requests', operation(access, advanceRequestListSchema), async (request) => {
    const { advanceRequests, nextPageToken } = await clients.advances.listAdvanceRequests(
      { ...request.caller.tenant, ...pageRequest(request.query) },
      callFor(request),
    );
    return { data: advanceRequests.map(advanceRequestJson), nextCursor: nextPageToken || undefined };
  });
}

function advanceRequestJson(request: AdvanceRequest) {
  return {
    id: request.id,
    quoteId: request.quoteId,
    scheduleId: request.scheduleId,
    amount: request.amountMinor,
    feeAmount: request.feeAmountMinor,
    netAmount: request.netAmountMinor,
    status: enumName(AdvanceRequestStatus, request.status),
    requestedAt: jsonTimestamp(request.requestedAt!),
    reviewedAt: optionalTimestamp(request.reviewedAt),
    reviewReason: request.reviewReason,
    releasedAt: optionalTimestamp(request.releasedAt),
  };
}
