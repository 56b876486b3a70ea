import type {
  ListAdvanceRequestsRequest,
  ListAdvanceRequestsResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { requestOrder, selectRequests } from './advance.queries.ts';

/** A page of requests, newest first by (requested_at, id). */
export async function listAdvanceRequests(
  database: Database,
  pagination: Pagination,
  request: ListAdvanceRequestsRequest,
): Promise<ListAdvanceRequestsResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'advance-requests', filters: {}, order: requestOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.read(selectRequests({ ...tenant, ...range })),
  );
  return {
    $typeName: 'payments.advances.v1.ListAdvanceRequestsResponse',
    advanceRequests: page.rows.map(advanceRequestMessage),
    nextPageToken: page.nextPageToken,
  };
}
