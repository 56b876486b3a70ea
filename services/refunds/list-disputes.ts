import type {
  ListDisputesRequest,
  ListDisputesResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { disputeMessage } from './dispute.message.ts';
import { disputeOrder, selectDisputes } from './dispute.queries.ts';

/** A page of disputes, newest first by (opened_at, id), in one statement. */
export async function listDisputes(
  database: Database,
  pagination: Pagination,
  request: ListDisputesRequest,
): Promise<ListDisputesResponse> {
  const tenant = tenantOf(request);
  const filters = { paymentIntentId: request.paymentIntentId?.toLowerCase() };
  const scope = { tenant, list: 'disputes', filters, order: disputeOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.read(selectDisputes({ ...tenant, ...filters, ...range })),
  );
  return {
    $typeName: 'payments.refunds.v1.ListDisputesResponse',
    disputes: page.rows.map(disputeMessage),
    nextPageToken: page.nextPageToken,
  };
}
