import type { HandlerContext } from '@connectrpc/connect';
import {
  AdvanceRequestStatus,
  type AdvanceRequestTotal,
  type ExportAdvanceRequestsRequest,
  type ExportAdvanceRequestsResponse,
  type ListAdvanceRequestsRequest,
  type ListAdvanceRequestsResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import { dateRangeOf } from '../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../platform/reads/exports.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { type Tenant, tenantOf } from '../platform/tenant.ts';
import { within64Bits } from '../platform/within-64-bits.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { type RequestFilter, requestOrder, selectRequests, selectRequestTotals } from './advance.queries.ts';

/** A page of requests, newest first by (requested_at, id). */
export async function listAdvanceRequests(
  database: Database,
  pagination: Pagination,
  request: ListAdvanceRequestsRequest,
): Promise<ListAdvanceRequestsResponse> {
  const tenant = tenantOf(request);
  const filters = { ...filterOf(request), providerPayoutId: request.providerPayoutId };
  const scope = { tenant, list: 'advance-requests', filters: { ...filters }, order: requestOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectRequests({ ...tenant, ...filters, ...range }),
  );
  return {
    $typeName: 'payments.advances.v1.ListAdvanceRequestsResponse',
    advanceRequests: page.rows.map(advanceRequestMessage),
    nextPageToken: page.nextPageToken,
    totals: request.includeTotals ? await totalsOf(database, { ...tenant, ...filters }) : [],
  };
}

/** Streams the requests that match, newest first, as they are at one moment. */
export function exportAdvanceRequests(
  exports: Exports,
  request: ExportAdvanceRequestsRequest,
  context: HandlerContext,
): AsyncGenerator<ExportAdvanceRequestsResponse> {
  const filters = { ...filterOf(request), providerPayoutId: undefined };
  return exportRows(exports, request, context, {
    order: requestOrder,
    select: (page) => selectRequests({ ...page, ...filters }),
    respond: (rows) => ({
      $typeName: 'payments.advances.v1.ExportAdvanceRequestsResponse',
      advanceRequests: rows.map(advanceRequestMessage),
    }),
  });
}

async function totalsOf(database: Database, filter: Tenant & RequestFilter): Promise<AdvanceRequestTotal[]> {
  const rows = await database.readList(selectRequestTotals(filter));
  const totals = rows.map((row) => ({
    $typeName: 'payments.advances.v1.AdvanceRequestTotal' as const,
    status: AdvanceRequestStatus[row.status],
    count: BigInt(row.count),
    amountMinor: within64Bits(BigInt(row.amount_minor)),
    feeAmountMinor: within64Bits(BigInt(row.fee_minor)),
    netAmountMinor: within64Bits(BigInt(row.net_minor)),
  }));
  return totals.sort((one, other) => one.status - other.status);
}

function filterOf(request: ListAdvanceRequestsRequest | ExportAdvanceRequestsRequest) {
  return { ...dateRangeOf(request), status: enumName(AdvanceRequestStatus, request.status) };
}
