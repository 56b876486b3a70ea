import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  ActionOwner,
  DisputeAction,
  type DisputeQueueItem,
  type ListDisputeQueueRequest,
  type ListDisputeQueueResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { disputeMessage } from '../disputes/dispute.message.ts';
import { type DisputeReadRow, dueDateOrder } from '../disputes/dispute.queries.ts';
import { nextDisputeStep } from './dispute-next-step.ts';
import { selectDisputeQueue } from './queue.queries.ts';

/** A page of open disputes of all merchants, in the order in which they are due. */
export async function listDisputeQueue(
  pagination: Pagination,
  request: ListDisputeQueueRequest,
): Promise<ListDisputeQueueResponse> {
  const nowMs = Date.now();
  const filter = merchantFilterOf(request);
  const dueBy = request.dueBy && timestampDate(request.dueBy);
  const responsesOnly = request.responsesOnly || undefined;
  const scope = {
    list: 'dispute-queue',
    filters: { ...filter, dueBy: dueBy?.toISOString(), responsesOnly },
    order: dueDateOrder,
  };
  const page = await pagination.list(scope, request, (range) =>
    selectDisputeQueue({ ...filter, dueBy, responsesOnly, ...range }),
  );
  return {
    $typeName: 'payments.refunds.v1.ListDisputeQueueResponse',
    items: page.rows.map((row) => itemOf(row, nowMs)),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: DisputeReadRow, nowMs: number): DisputeQueueItem {
  const { action, owner, since } = nextDisputeStep(row, nowMs);
  return {
    $typeName: 'payments.refunds.v1.DisputeQueueItem',
    dispute: disputeMessage(row),
    nextAction: DisputeAction[action],
    owner: ActionOwner[owner],
    waitingSince: since,
    dueAt: row.due_at ?? undefined,
  };
}
