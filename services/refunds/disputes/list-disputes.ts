import type { HandlerContext } from '@connectrpc/connect';
import {
  DisputeOrder,
  DisputeOutcome,
  DisputeStatus,
  type ExportDisputesRequest,
  type ExportDisputesResponse,
  type ListDisputesRequest,
  type ListDisputesResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { dateRangeOf } from '../../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../../platform/reads/exports.ts';
import { idsOf } from '../../platform/reads/ids.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import type { SaleReads } from '../payments/refunded-sale.ts';
import { disputeMessage } from './dispute.message.ts';
import {
  type DisputeReadRow,
  disputeOrder,
  dueDateOrder,
  selectAwaitingDisputes,
  selectDisputes,
} from './dispute.queries.ts';
import { deductedBy, disputeTotals } from './dispute-totals.ts';

interface Dependencies extends SaleReads {
  readonly pagination: Pagination;
}

/** A page of disputes, newest first; those awaiting the merchant's response can be listed by due date, earliest first. */
export async function listDisputes(
  { database, pagination, funds }: Dependencies,
  request: ListDisputesRequest,
  context: HandlerContext,
): Promise<ListDisputesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    ...filterOf(request),
    disputeIds: idsOf(request.disputeIds),
    saleIds: idsOf(request.saleIds),
  };
  const scope = { tenant, list: 'disputes', filters };
  const now = new Date();
  const page =
    request.order === DisputeOrder.DUE_DATE
      ? await pagination.list({ ...scope, order: dueDateOrder }, request, (range) =>
          selectAwaitingDisputes({ ...tenant, ...filters, now, ...range }),
        )
      : await pagination.list({ ...scope, order: disputeOrder }, request, (range) =>
          selectDisputes[filters.status ?? 'ALL']({ ...tenant, ...filters, ...range }),
        );
  return {
    $typeName: 'payments.refunds.v1.ListDisputesResponse',
    disputes: page.rows.map(disputeMessage),
    nextPageToken: page.nextPageToken,
    totals: request.includeTotals ? await disputeTotals({ database, funds }, request, filters, context) : [],
  };
}

interface ExportDependencies {
  readonly exports: Exports;
  readonly funds: SaleReads['funds'];
}

/** Streams the disputes that match, in the order of the list, as they are at one moment. */
export function exportDisputes(
  { exports, funds }: ExportDependencies,
  request: ExportDisputesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportDisputesResponse> {
  const filters = filterOf(request);
  const now = new Date();
  const respond = async (rows: readonly DisputeReadRow[]): Promise<ExportDisputesResponse> => {
    const deducting = rows.filter(({ outcome }) => outcome !== null && outcome !== 'WON');
    const ids = request.includeDeductions ? deducting.map(({ id }) => id) : [];
    return {
      $typeName: 'payments.refunds.v1.ExportDisputesResponse',
      disputes: rows.map(disputeMessage),
      deductedAmountsMinor: Object.fromEntries(await deductedBy(funds, request, ids, context)),
    };
  };
  if (request.order === DisputeOrder.DUE_DATE) {
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
    ...dateRangeOf(request),
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: enumName(DisputeStatus, request.status),
    outcome: enumName(DisputeOutcome, request.outcome),
  };
}
