import type { HandlerContext } from '@connectrpc/connect';
import {
  type ExportRefundCasesRequest,
  type ExportRefundCasesResponse,
  type ListRefundCasesRequest,
  type ListRefundCasesResponse,
  RefundCaseOrder,
  RefundCaseStatus,
  type RefundCaseTotal,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import { dateRangeOf } from '../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../platform/reads/exports.ts';
import { idsOf } from '../platform/reads/ids.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { type Tenant, tenantOf } from '../platform/tenant.ts';
import { within64Bits } from '../platform/within-64-bits.ts';
import { refundCaseMessage } from './refund-case.message.ts';
import {
  type RefundCaseFilter,
  refundCaseOrder,
  reviewDeadlineOrder,
  selectRefundCases,
  selectRefundCaseTotals,
  selectUndecidedCases,
} from './refund-case.queries.ts';

/** A page of refund cases, newest first; those awaiting the merchant's decision can be listed by deadline, soonest first. */
export async function listRefundCases(
  database: Database,
  pagination: Pagination,
  request: ListRefundCasesRequest,
): Promise<ListRefundCasesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    ...filterOf(request),
    saleIds: idsOf(request.saleIds),
    refundCaseIds: idsOf(request.refundCaseIds),
    providerRefundId: request.providerRefundId,
    refundReference: request.refundReference,
  };
  const scope = { tenant, list: 'refund-cases', filters };
  const page =
    request.order === RefundCaseOrder.REVIEW_DEADLINE
      ? await pagination.list({ ...scope, order: reviewDeadlineOrder }, request, (range) =>
          selectUndecidedCases({ ...tenant, ...filters, ...range }),
        )
      : await pagination.list({ ...scope, order: refundCaseOrder }, request, (range) =>
          selectRefundCases({ ...tenant, ...filters, ...range }),
        );
  return {
    $typeName: 'payments.refunds.v1.ListRefundCasesResponse',
    refundCases: page.rows.map(refundCaseMessage),
    nextPageToken: page.nextPageToken,
    totals: request.includeTotals ? await totalsOf(database, { ...tenant, ...filters }) : [],
  };
}

/** Streams the cases that match, newest first, as they are at one moment. */
export function exportRefundCases(
  exports: Exports,
  request: ExportRefundCasesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportRefundCasesResponse> {
  const forLists = { saleIds: undefined, refundCaseIds: undefined };
  const byReference = { providerRefundId: undefined, refundReference: undefined };
  const filters = { ...filterOf(request), ...forLists, ...byReference };
  return exportRows(exports, request, context, {
    order: refundCaseOrder,
    select: (page) => selectRefundCases({ ...page, ...filters }),
    respond: (rows) => ({
      $typeName: 'payments.refunds.v1.ExportRefundCasesResponse',
      refundCases: rows.map(refundCaseMessage),
    }),
  });
}

async function totalsOf(database: Database, filter: Tenant & RefundCaseFilter): Promise<RefundCaseTotal[]> {
  const rows = await database.readList(selectRefundCaseTotals(filter));
  const totals = rows.map((row) => ({
    $typeName: 'payments.refunds.v1.RefundCaseTotal' as const,
    status: RefundCaseStatus[row.status],
    count: BigInt(row.count),
    amountMinor: within64Bits(BigInt(row.amount_minor)),
  }));
  return totals.sort((one, other) => one.status - other.status);
}

function filterOf(request: ListRefundCasesRequest | ExportRefundCasesRequest) {
  return {
    ...dateRangeOf(request),
    initiator: enumName(RefundInitiator, request.initiator),
    orderId: request.orderId?.toLowerCase(),
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: enumName(RefundCaseStatus, request.status),
    blockedOnly: request.blockedOnly || undefined,
  };
}
