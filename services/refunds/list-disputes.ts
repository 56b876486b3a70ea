import {
  DisputeOrder,
  DisputeStatus,
  type ListDisputesRequest,
  type ListDisputesResponse,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { enumName } from '../platform/enum-name.ts';
import { idsOf } from '../platform/reads/ids.ts';
import type { Pagination } from '../platform/reads/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { disputeMessage } from './dispute.message.ts';
import { disputeOrder, dueDateOrder, selectAwaitingDisputes, selectDisputes } from './dispute.queries.ts';

/** A page of disputes, newest first; those awaiting the merchant's response can be listed by due date, earliest first. */
export async function listDisputes(
  database: Database,
  pagination: Pagination,
  request: ListDisputesRequest,
): Promise<ListDisputesResponse> {
  const tenant = tenantOf(request);
  const filters = {
    paymentIntentId: request.paymentIntentId?.toLowerCase(),
    status: enumName(DisputeStatus, request.status),
    disputeIds: idsOf(request.disputeIds),
    saleIds: idsOf(request.saleIds),
  };
  const signed = {
    ...filters,
    disputeIds: filters.disputeIds?.join(' '),
    saleIds: filters.saleIds?.join(' '),
  };
  const scope = { tenant, list: 'disputes', filters: signed };
  const now = new Date();
  const page =
    request.order === DisputeOrder.DUE_DATE
      ? await pagination.page({ ...scope, order: dueDateOrder }, request, (range) =>
          database.readList(selectAwaitingDisputes({ ...tenant, ...filters, now, ...range })),
        )
      : await pagination.page({ ...scope, order: disputeOrder }, request, (range) =>
          database.readList(selectDisputes[filters.status ?? 'ALL']({ ...tenant, ...filters, ...range })),
        );
  return {
    $typeName: 'payments.refunds.v1.ListDisputesResponse',
    disputes: page.rows.map(disputeMessage),
    nextPageToken: page.nextPageToken,
  };
}
