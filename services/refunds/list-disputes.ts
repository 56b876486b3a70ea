import type { HandlerContext } from '@connectrpc/connect';
import {
  DisputeOrder,
  DisputeStatus,
  type ExportDisputesRequest,
  type ExportDisputesResponse,
  type ListDisputesRequest,
  type ListDisputesResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import { dateRangeOf } from '../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../platform/reads/exports.ts';
import { idsOf } from '../platform/reads/ids.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { disputeMessage } from './dispute.message.ts';
import {
  type DisputeReadRow,
  disputeOrder,
  dueDateOrder,
  selectAwaitingDisputes,
  selectDisputes,
} from './dispute.queries.ts';

/** A page of disputes, newest first; those awaiting the merchant's response can be listed by due date, earliest first. */
export async function listDisputes(
  database: Database,
  pagination: Pagination,
  request: ListDisputesRequest,
): Promise<ListDisputesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    ...filterOf(request),
    disputeIds: idsOf(request.disputeIds),
    saleIds: idsOf(request.saleIds),
  };
  const signed = {
    ...filters,
    disputeIds: filters.disputeIds?.join(' '),
    saleIds: filters.saleIds?.join(' '),
  };
  const scope = { tenant, list: 'disputes', filters: signed };
  const now = new Date();
  const page =
    request.order === DisputeOrder.DUE_DATE
      ? await pagination.page({ ...scope, order: dueDateOrder }, request, (range) =>
          database.readList(selectAwaitingDisputes({ ...tenant, ...filters, now, ...range })),
        )
      : await pagination.page({ ...scope, order: disputeOrder }, request, (range) =>
          database.readList(selectDisputes[filters.status ?? 'ALL']({ ...tenant, ...filters, ...range })),
        );
  return {
    $typeName: 'payments.refunds.v1.ListDisputesResponse',
    disputes: page.rows.map(disputeMessage),
    nextPageToken: page.nextPageToken,
  };
}

/** Streams the disputes that match, in the order of the list, as they are at one moment. */
export function exportDisputes(
  exports: Exports,
  request: ExportDisputesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportDisputesResponse> {
  const filters = { ...filterOf(request), ...dateRangeOf(request) };
  const respond = (rows: readonly DisputeReadRow[]): ExportDisputesResponse => ({
    $typeName: 'payments.refunds.v1.ExportDisputesResponse',
    disputes: rows.map(disputeMessage),
  });
  if (request.order === DisputeOrder.DUE_DATE) {
    const now = new Date();
    return exportRows(exports, request, context, {
      order: dueDateOrder,
      select: (page) => selectAwaitingDisputes({ ...page, ...filters, now }),
      respond,
    });
  }
  return exportRows(exports, request, context, {
    order: disputeOrder,
    select: (page) => selectDisputes[filters.status ?? 'ALL']({ ...page, ...filters }),
    respond,
  });
}

function filterOf(request: ListDisputesRequest | ExportDisputesRequest) {
  return {
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: enumName(DisputeStatus, request.status),
  };
}
