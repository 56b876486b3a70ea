import {
  type ListRefundCasesRequest,
  type ListRefundCasesResponse,
  RefundCaseOrder,
  RefundCaseStatus,
  RefundInitiator,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { refundCaseMessage } from './refund-case.message.ts';
import {
  refundCaseOrder,
  reviewDeadlineOrder,
  selectRefundCases,
  selectUndecidedCases,
} from './refund-case.queries.ts';

/** A page of refund cases, newest first; those awaiting the merchant's decision can be listed by deadline, soonest first. */
export async function listRefundCases(
  database: Database,
  pagination: Pagination,
  request: ListRefundCasesRequest,
): Promise<ListRefundCasesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    initiator: enumName(RefundInitiator, request.initiator),
    orderId: request.orderId?.toLowerCase(),
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: enumName(RefundCaseStatus, request.status),
  };
  const scope = { tenant, list: 'refund-cases', filters };
  const page =
    request.order === RefundCaseOrder.REVIEW_DEADLINE
      ? await pagination.page({ ...scope, order: reviewDeadlineOrder }, request, (range) =>
          database.read(selectUndecidedCases({ ...tenant, ...filters, ...range })),
        )
      : await pagination.page({ ...scope, order: refundCaseOrder }, request, (range) =>
          database.read(selectRefundCases({ ...tenant, ...filters, ...range })),
        );
  return {
    $typeName: 'payments.refunds.v1.ListRefundCasesResponse',
    refundCases: page.rows.map(refundCaseMessage),
    nextPageToken: page.nextPageToken,
  };
}
