import {
  FundsReleaseStatus,
  type ListFundsReleasesRequest,
  type ListFundsReleasesResponse,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { ACCOUNT_TIME_ZONE, isCivilDate } from '../platform/civil-date.ts';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import { invalidArgument } from '../platform/errors.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { releaseMessage } from './funds.message.ts';
import { type ReleaseFilter, releaseOrder, selectReleases } from './funds.queries.ts';

/** A page of release rows, ascending by (date, status). */
export async function listFundsReleases(
  database: Database,
  pagination: Pagination,
  request: ListFundsReleasesRequest,
): Promise<ListFundsReleasesResponse> {
  const tenant = tenantOf(request);
  const filter = filterOf(request);
  const scope = { tenant, list: 'funds-releases', filters: { ...filter }, order: releaseOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.read(selectReleases({ ...tenant, ...filter, ...range })),
  );
  return {
    $typeName: 'payments.funds.v1.ListFundsReleasesResponse',
    releases: page.rows.map(releaseMessage),
    nextPageToken: page.nextPageToken,
    timezone: ACCOUNT_TIME_ZONE,
  };
}

function filterOf({ fromDate, toDate, status }: ListFundsReleasesRequest): ReleaseFilter {
  requireDate('from_date', fromDate);
  requireDate('to_date', toDate);
  if (fromDate !== undefined && toDate !== undefined && fromDate > toDate) {
    throw invalidArgument('INVALID_ARGUMENT', 'from_date: must not be later than to_date', {
      field: 'from_date',
    });
  }
  return {
    from: fromDate,
    to: toDate,
    status: enumName(FundsReleaseStatus, status),
  };
}

function requireDate(field: string, date: string | undefined): void {
  if (date === undefined || isCivilDate(date)) return;
  throw invalidArgument('INVALID_ARGUMENT', `${field}: is not a calendar date`, { field });
}
