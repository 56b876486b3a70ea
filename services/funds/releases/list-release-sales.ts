import type { HandlerContext } from '@connectrpc/connect';
import {
  type ExportReleaseSalesRequest,
  type ExportReleaseSalesResponse,
  FundsReleaseStatus,
  type ListReleaseSalesRequest,
  type ListReleaseSalesResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { requireDate } from '../../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../../platform/reads/exports.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { releaseSaleMessage } from '../sales/sale.message.ts';
import { type ReleaseSaleReadRow, releaseSaleOrder, selectReleaseSales } from '../sales/sale.queries.ts';

/** A page of the sales behind a day or one of its release rows, ascending by sale id. */
export async function listReleaseSales(
  pagination: Pagination,
  request: ListReleaseSalesRequest,
): Promise<ListReleaseSalesResponse> {
  const tenant = tenantOf(request);
  const { date } = request;
  requireDate('date', date);
  const status = enumName(FundsReleaseStatus, request.status);
  const scope = { tenant, list: 'release-sales', filters: { date, status }, order: releaseSaleOrder };
  const page = await pagination.list<ReleaseSaleReadRow>(scope, request, (range) =>
    selectReleaseSales[status ?? 'DAY']({ ...tenant, date, ...range }),
  );
  return {
    $typeName: 'payments.funds.v1.ListReleaseSalesResponse',
    sales: page.rows.map(releaseSaleMessage),
    nextPageToken: page.nextPageToken,
  };
}

/** Streams the sales behind a day or one of its release rows, ascending by sale id, as they are at one moment. */
export function exportReleaseSales(
  exports: Exports,
  request: ExportReleaseSalesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportReleaseSalesResponse> {
  const { date } = request;
  requireDate('date', date);
  const status = enumName(FundsReleaseStatus, request.status);
  return exportRows<ReleaseSaleReadRow, ExportReleaseSalesResponse>(exports, request, context, {
    order: releaseSaleOrder,
    select: (page) => selectReleaseSales[status ?? 'DAY']({ ...page, date }),
    respond: (rows) => ({
      $typeName: 'payments.funds.v1.ExportReleaseSalesResponse',
      sales: rows.map(releaseSaleMessage),
    }),
  });
}
