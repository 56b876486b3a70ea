import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  ListAdvanceRequestsRequest,
  ListAdvanceRequestsResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database.ts';
import type { Pagination } from '../platform/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { selectRequests } from './advance.queries.ts';

/** A page of requests, newest first by (requested_at, id). */
export async function listAdvanceRequests(
  database: Database,
  pagination: Pagination,
  request: ListAdvanceRequestsRequest,
): Promise<ListAdvanceRequestsResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'advance-requests', filters: {} };
  const position = pagination.position(scope, request.pageToken, 2);
  const read = selectRequests({
    ...tenant,
    afterRequestedAt: position && new Date(Number(position[0])),
    afterId: position?.[1],
    limit: pagination.fetchSize(request.pageSize),
  });
  const fetched = await database.read(read);
  const page = pagination.cut(scope, request.pageSize, fetched, (row) => [
    String(timestampMs(row.requested_at)),
    row.id,
  ]);
  return {
    $typeName: 'payments.advances.v1.ListAdvanceRequestsResponse',
    advanceRequests: page.rows.map(advanceRequestMessage),
    nextPageToken: page.nextPageToken,
  };
}
