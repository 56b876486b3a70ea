import type { HandlerContext } from '@connectrpc/connect';
import {
  type ExportFundsReleasesRequest,
  type ExportFundsReleasesResponse,
  FundsReleaseStatus,
  type ListFundsReleasesRequest,
  type ListFundsReleasesResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { ACCOUNT_TIME_ZONE } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import { dateRangeOf } from '../../platform/reads/date-range.ts';
import { type Exports, exportRows } from '../../platform/reads/exports.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { releaseMessage } from '../funds.message.ts';
import { type ReleaseFilter, releaseOrder, selectReleases, selectReleaseTotals } from '../funds.queries.ts';
import { fundsTotalsMessage } from '../funds-totals.ts';

/** A page of release rows, ascending by (date, status). */
export async function listFundsReleases(
  database: Database,
  pagination: Pagination,
  request: ListFundsReleasesRequest,
): Promise<ListFundsReleasesResponse> {
  const tenant = tenantOf(request);
  const filter = releaseFilterOf(request);
  const scope = { tenant, list: 'funds-releases', filters: { ...filter }, order: releaseOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectReleases({ ...tenant, ...filter, ...range }),
  );
  const totals =
    request.includeTotals && (await database.readList(selectReleaseTotals({ ...tenant, ...filter })));
  return {
    $typeName: 'payments.funds.v1.ListFundsReleasesResponse',
    releases: page.rows.map(releaseMessage),
    nextPageToken: page.nextPageToken,
    timezone: ACCOUNT_TIME_ZONE,
    ...(totals && { totals: fundsTotalsMessage(totals) }),
  };
}

/** Streams the release rows that match, ascending by (date, status), as they are at one moment. */
export function exportFundsReleases(
  exports: Exports,
  request: ExportFundsReleasesRequest,
  context: HandlerContext,
): AsyncGenerator<ExportFundsReleasesResponse> {
  const filter = releaseFilterOf(request);
  return exportRows(exports, request, context, {
    order: releaseOrder,
    select: (page) => selectReleases({ ...page, ...filter }),
    respond: (rows) => ({
      $typeName: 'payments.funds.v1.ExportFundsReleasesResponse',
      releases: rows.map(releaseMessage),
    }),
  });
}

function releaseFilterOf(request: ListFundsReleasesRequest | ExportFundsReleasesRequest): ReleaseFilter {
  return { ...dateRangeOf(request), status: enumName(FundsReleaseStatus, request.status) };
}
