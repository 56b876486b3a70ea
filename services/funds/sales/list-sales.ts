import type { HandlerContext } from '@connectrpc/connect';
import {
  type ExportSalesRequest,
  type ExportSalesResponse,
  type ListSalesRequest,
  type ListSalesResponse,
  SaleStatus,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { ACCOUNT_TIME_ZONE } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import { dateRangeOf } from '../../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../../platform/reads/exports.ts';
import { idsOf } from '../../platform/reads/ids.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { fundsTotalsMessage } from '../funds-totals.ts';
import { saleMessage } from './sale.message.ts';
import { type SaleFilter, saleOrder, selectSales, selectSaleTotals } from './sale.queries.ts';

/** A page of sales, newest first by (captured_at, id). */
export async function listSales(
  database: Database,
  pagination: Pagination,
  request: ListSalesRequest,
): Promise<ListSalesResponse> {
  const tenant = tenantOf(request);
  const filter: SaleFilter = { ...saleFilterOf(request), saleIds: idsOf(request.saleIds) };
  const scope = { tenant, list: 'sales', filters: { ...filter }, order: saleOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectSales({ ...tenant, ...filter, ...range }),
  );
  const totals =
    request.includeTotals && (await database.readList(selectSaleTotals({ ...tenant, ...filter })));
  return {
    $typeName: 'payments.funds.v1.ListSalesResponse',
    sales: page.rows.map(saleMessage),
    nextPageToken: page.nextPageToken,
    timezone: ACCOUNT_TIME_ZONE,
    ...(totals && { totals: fundsTotalsMessage(totals) }),
  };
}

/** Streams the sales that match, newest first, as they are at one moment. */
export function exportSales(
  exports: Exports,
  request: ExportSalesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportSalesResponse> {
  const filter: SaleFilter = { ...saleFilterOf(request), saleIds: undefined };
  return exportRows(exports, request, context, {
    order: saleOrder,
    select: (page) => selectSales({ ...page, ...filter }),
    respond: (rows) => ({
      $typeName: 'payments.funds.v1.ExportSalesResponse',
      sales: rows.map(saleMessage),
    }),
  });
}

function saleFilterOf(request: ListSalesRequest | ExportSalesRequest) {
  return {
    ...dateRangeOf(request),
    orderId: request.orderId?.toLowerCase(),
    orderNumber: request.orderNumber?.trim(),
    productId: request.productId?.toLowerCase(),
    customerReference: request.customerReference?.trim(),
    status: enumName(SaleStatus, request.status),
  };
}
