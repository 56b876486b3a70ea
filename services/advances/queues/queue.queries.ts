import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type NotNull, sql } from 'kysely';
import { inFront, inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import {
  alongMerchant,
  type MerchantFilter,
  matchingMerchant,
} from '../../platform/reads/merchant-filter.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf } from '../../platform/reads/read-table.ts';
import { AdvanceRequestEntity } from '../advance.entity.ts';
import type { AdvanceRequestReadRow } from '../advance.queries.ts';
import { TO_RESOLVE } from '../advance-payout.ts';
import type { AdvanceRequestStatus } from '../advance-request.ts';

// The conditions that select open work are literals, not parameters: only then does the planner use the partial indexes.

const db = queryBuilder<{ 'advances.request': AdvanceRequestReadRow }>();

/** A page of requests to review or pay out; undefined filters are ignored. */
interface AdvanceQueuePage extends MerchantFilter, PageRange {
  readonly status: AdvanceRequestStatus | undefined;
}

/** Requests to review or pay out are listed oldest first. */
export const advanceQueueOrder: ListOrder<AdvanceRequestReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'asc',
};

/** One page of requests to review or pay out. */
export const selectAdvanceQueue = prepareRead<AdvanceQueuePage, AdvanceRequestReadRow>((parameters) => {
  let query = alongMerchant(
    db.selectFrom('advances.request').select(columnsOf(AdvanceRequestEntity)),
    parameters,
  );
  query = query.where(sql<boolean>`status in ('PENDING_REVIEW', 'APPROVED')`);
  if (parameters.has('status')) {
    query = parameters.has('merchantId')
      ? query.where('status', '=', parameters('status'))
      : query.where(inFront('status', 'text', parameters('status'))).orderBy('status');
  }
  return inOrder(query, advanceQueueOrder, parameters).compile();
});

export type ReleasedReadRow = AdvanceRequestReadRow & { released_at: Timestamp };

/** Payouts that await the provider are listed longest waiting first. */
export const providerQueueOrder: ListOrder<ReleasedReadRow> = {
  columns: ['released_at', 'id'],
  direction: 'asc',
};

/** A page of payouts that await the provider. */
interface ProviderQueuePage extends MerchantFilter, PageRange {
  /** True for only those that are stuck or returned; undefined for all. */
  readonly stuckOnly: true | undefined;
}

/** One page of payouts that await the provider. */
export const selectProviderQueue = prepareRead<ProviderQueuePage, ReleasedReadRow>((parameters) => {
  const requests = db
    .selectFrom('advances.request')
    .select(columnsOf(AdvanceRequestEntity))
    .$narrowType<{ released_at: NotNull }>();
  const query = parameters.has('stuckOnly')
    ? matchingMerchant(requests, parameters).where(sql.raw<boolean>(TO_RESOLVE))
    : alongMerchant(requests, parameters)
        .where('payout_accepted_at', 'is', null)
        .where(sql<boolean>`(status = 'RELEASED' or payout_submitted_at is not null)`);
  return inOrder(query, providerQueueOrder, parameters).compile();
});
