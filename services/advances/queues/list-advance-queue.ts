import {
  AdvanceAction,
  type AdvanceQueueItem,
  AdvanceRequestStatus,
  type ListAdvanceQueueRequest,
  type ListAdvanceQueueResponse,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { startOfDay } from '../../platform/civil-date.ts';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import { advanceRequestMessage } from '../advance.message.ts';
import type { AdvanceRequestReadRow } from '../advance.queries.ts';
import { advanceQueueOrder, selectAdvanceQueue } from './queue.queries.ts';

/** A page of requests of all merchants to review or pay out, oldest first, with what is to be done next. */
export async function listAdvanceQueue(
  database: Database,
  pagination: Pagination,
  request: ListAdvanceQueueRequest,
): Promise<ListAdvanceQueueResponse> {
  const filters = { ...merchantFilterOf(request), status: enumName(AdvanceRequestStatus, request.status) };
  const scope = { list: 'advance-queue', filters, order: advanceQueueOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.readList(selectAdvanceQueue({ ...filters, ...range })),
  );
  return {
    $typeName: 'payments.advances.v1.ListAdvanceQueueResponse',
    items: page.rows.map(itemOf),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: AdvanceRequestReadRow): AdvanceQueueItem {
  return {
    $typeName: 'payments.advances.v1.AdvanceQueueItem',
    advanceRequest: advanceRequestMessage(row),
    nextAction: AdvanceAction[row.status === 'APPROVED' ? 'RELEASE' : 'REVIEW'],
    waitingSince: row.reviewed_at ?? row.requested_at,
    dueAt: timestampOf(startOfDay(row.first_date)),
  };
}
