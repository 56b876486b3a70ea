import {
  type ListProviderQueueRequest,
  type ListProviderQueueResponse,
  ProviderQueueAction,
  type ProviderQueueItem,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { merchantFilterOf } from '../../platform/reads/merchant-filter.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { advanceRequestMessage } from '../advance.message.ts';
import { STUCK_AFTER_ATTEMPTS } from '../advance-payout.ts';
import { providerQueueOrder, type ReleasedReadRow, selectProviderQueue } from './queue.queries.ts';

/** A page of payouts of all merchants that await the provider, longest waiting first. */
export async function listProviderQueue(
  pagination: Pagination,
  request: ListProviderQueueRequest,
): Promise<ListProviderQueueResponse> {
  const filters = { ...merchantFilterOf(request), stuckOnly: request.stuckOnly || undefined };
  const scope = { list: 'payout-provider-queue', filters, order: providerQueueOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectProviderQueue({ ...filters, ...range }),
  );
  return {
    $typeName: 'payments.advances.v1.ListProviderQueueResponse',
    items: page.rows.map(itemOf),
    nextPageToken: page.nextPageToken,
  };
}

function itemOf(row: ReleasedReadRow): ProviderQueueItem {
  return {
    $typeName: 'payments.advances.v1.ProviderQueueItem',
    advanceRequest: advanceRequestMessage(row),
    nextAction: ProviderQueueAction[nextAction(row)],
    waitingSince: row.released_at,
  };
}

function nextAction({ payout_attempts, payout_last_answer }: ReleasedReadRow) {
  if (payout_last_answer === 'RETURNED') return 'PAY_AGAIN';
  return payout_attempts >= STUCK_AFTER_ATTEMPTS ? 'CONTACT_PROVIDER' : 'AWAIT_PROVIDER';
}
