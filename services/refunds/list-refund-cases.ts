import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ListRefundCasesRequest,
  type ListRefundCasesResponse,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database.ts';
import { enumName } from '../platform/enum-name.ts';
import type { Pagination } from '../platform/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { refundCaseMessage } from './refund-case.message.ts';
import { selectRefundCases } from './refund-case.queries.ts';

/** A page of refund cases, newest first by (requested_at, id), in one statement. */
export async function listRefundCases(
  database: Database,
  pagination: Pagination,
  request: ListRefundCasesRequest,
): Promise<ListRefundCasesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    initiator: request.initiator === undefined ? undefined : enumName(RefundInitiator, request.initiator),
    orderId: request.orderId?.toLowerCase(),
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: request.status === undefined ? undefined : enumName(RefundCaseStatus, request.status),
  };
  const scope = { tenant, list: 'refund-cases', filters };
  const position = pagination.position(scope, request.pageToken, 2);
  const read = selectRefundCases({
    ...tenant,
    ...filters,
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
    $typeName: 'payments.refunds.v1.ListRefundCasesResponse',
    refundCases: page.rows.map(refundCaseMessage),
    nextPageToken: page.nextPageToken,
  };
}
