import {
  BlockReason,
  type FundsRelease,
  FundsReleaseStatus,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../services/platform/enum-name.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { pageJson, pageRequest } from '../http/pages.ts';
import { Problem } from '../problems/problem.ts';
import { fundsReleaseListSchema, releaseCalendarSchema } from './funds-release.schema.ts';
import { operation } from './operation.ts';

export function fundsRoutes(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.get('/v1/funds/releases', operation(access, fundsReleaseListSchema), async (request) => {
    const { from, status, to } = request.query;
    if (from !== undefined && to !== undefined && from > to) {
      throw new Problem('INVALID_REQUEST', "Query parameter 'from' must not be later than 'to'.");
    }
    const { releases, nextPageToken, timezone } = await clients.funds.listFundsReleases(
      {
        ...request.caller.tenant,
        fromDate: from,
        toDate: to,
        status: status && FundsReleaseStatus[status],
        ...pageRequest(request.query),
      },
      callFor(request),
    );
    return { ...pageJson(releases.map(fundsReleaseJson), nextPageToken), timezone };
  });

  app.get(
    '/v1/funds/releases/calendar',
    operation(access, releaseCalendarSchema),
    // The message has the same members as the JSON object; the schema omits anything else.
    (request) =>
      clients.funds.getReleaseCalendar(
        { ...request.caller.tenant, month: request.query.month },
        callFor(request),
      ),
  );
}

function fundsReleaseJson(release: FundsRelease) {
  return {
    date: release.date,
    status: enumName(FundsReleaseStatus, release.status),
    originalAmountMinor: release.originalAmountMinor,
    grossAllocatedAmountMinor: release.grossAllocatedAmountMinor,
    feesAllocatedAmountMinor: release.feesAllocatedAmountMinor,
    deductionsAmountMinor: release.deductionsAmountMinor,
    advancedAmountMinor: release.advancedAmountMinor,
    blockedAmountMinor: release.blockedAmountMinor,
    releasedAmountMinor: release.releasedAmountMinor,
    scheduledAmountMinor: release.scheduledAmountMinor,
    salesCount: release.salesCount,
    blockedReasons: release.blockedReasons.map((reason) => enumName(BlockReason, reason)),
  };
}
