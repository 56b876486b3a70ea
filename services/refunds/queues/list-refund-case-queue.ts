import {
  ActionOwner,
  type ListRefundCaseQueueRequest,
  type ListRefundCaseQueueResponse,
  RefundBlocker,
  RefundCaseAction,
  type RefundCaseQueueItem,
  RefundCaseStatus,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { refundCaseMessage } from '../refund-case.message.ts';
import { refundCaseQueueOrder, selectRefundCaseQueue } from './queue.queries.ts';
import { nextRefundStep, type QueuedCaseReadRow, type QueueRules } from './refund-next-step.ts';

/** A page of open cases of all merchants, oldest first, with what is to be done next, by whom and until when. */
export async function listRefundCaseQueue(
  pagination: Pagination,
  rules: QueueRules,
  request: ListRefundCaseQueueRequest,
): Promise<ListRefundCaseQueueResponse> {
  const { minAgeSeconds } = request;
  const filter = {
    ...merchantFilterOf(request),
    status: enumName(RefundCaseStatus, request.status),
    blocker: enumName(RefundBlocker, request.blocker),
  };
  // The filter is the age, not a time, so that tokens stay valid as time passes.
  const filters = { ...filter, minAgeSeconds };
  const requestedBy = minAgeSeconds === 0 ? undefined : new Date(Date.now() - minAgeSeconds * 1_000);
  const scope = { list: 'refund-case-queue', filters, order: refundCaseQueueOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectRefundCaseQueue({ ...filter, requestedBy, ...range }),
  );
  return {
    $typeName: 'payments.refunds.v1.ListRefundCaseQueueResponse',
    items: page.rows.map((row) => itemOf(row, rules)),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: QueuedCaseReadRow, rules: QueueRules): RefundCaseQueueItem {
  const { action, owner, since, dueAt } = nextRefundStep(row, rules);
  return {
    $typeName: 'payments.refunds.v1.RefundCaseQueueItem',
    refundCase: refundCaseMessage(row),
    nextAction: RefundCaseAction[action],
    owner: ActionOwner[owner],
    waitingSince: since,
    dueAt,
  };
}
