import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ListProviderQueueRequest,
  type ListProviderQueueResponse,
  ProviderQueueAction,
  type ProviderQueueItem,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { refundCaseMessage } from '../refund-case.message.ts';
import { type ProcessingReadRow, providerQueueOrder, selectProviderQueue } from './queue.queries.ts';
import { nextRefundStep, type QueueRules } from './refund-next-step.ts';

/** A page of refunds of all merchants that await the provider, oldest debit first. */
export async function listProviderQueue(
  pagination: Pagination,
  rules: QueueRules,
  request: ListProviderQueueRequest,
): Promise<ListProviderQueueResponse> {
  const now = Date.now();
  const filter = merchantFilterOf(request);
  const { silentOnly } = request;
  const filters = { ...filter, silentOnly };
  const silentSince = silentOnly ? new Date(now - rules.silentAfterMs) : undefined;
  const scope = { list: 'refund-provider-queue', filters, order: providerQueueOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectProviderQueue({ ...filter, silentSince, ...range }),
  );
  return {
    $typeName: 'payments.refunds.v1.ListProviderQueueResponse',
    items: page.rows.map((row) => itemOf(row, rules, now)),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: ProcessingReadRow, rules: QueueRules, now: number): ProviderQueueItem {
  const { since, dueAt } = nextRefundStep({ ...row, is_disputed: false, undisputed_at: null }, rules);
  const isSilent = dueAt !== undefined && timestampMs(dueAt) <= now;
  return {
    $typeName: 'payments.refunds.v1.ProviderQueueItem',
    refundCase: refundCaseMessage(row),
    nextAction: ProviderQueueAction[isSilent ? 'CONTACT_PROVIDER' : 'AWAIT_PROVIDER'],
    waitingSince: since,
    dueAt,
  };
}
