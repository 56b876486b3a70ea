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
import { type DisputeReadRow, type DueDisputeReadRow, dueDateOrder } from '../disputes/dispute.queries.ts';
import { DisputeEntity, RefundCaseEntity } from '../refund-case.entity.ts';
import type { RefundCaseReadRow } from '../refund-case.queries.ts';
import { type Blocker, OPEN_STATUSES, type RefundStatus } from '../refund-case.ts';
import type { QueuedCaseReadRow } from './refund-next-step.ts';

// The conditions that select open work are literals, not parameters: only then does the planner use the partial indexes.

const db = queryBuilder<{ 'refunds.refund_case': RefundCaseReadRow; 'refunds.dispute': DisputeReadRow }>();

/** A page of open cases; undefined filters are ignored. */
interface RefundCaseQueuePage extends MerchantFilter, PageRange {
  readonly status: RefundStatus | undefined;
  readonly blocker: Blocker | undefined;
  readonly requestedBy: Date | undefined;
}

/** Open cases are listed oldest first. */
export const refundCaseQueueOrder: ListOrder<QueuedCaseReadRow> = {
  columns: ['requested_at', 'id'],
  direction: 'asc',
};

const OPEN = sql.join(OPEN_STATUSES.map((status) => sql.lit(status)));

/** The disputes of a case's payment. */
const disputesOfCase = sql`select closed_at from refunds.dispute
  where dispute.merchant_id = refund_case.merchant_id and dispute.environment = refund_case.environment
    and dispute.payment_intent_id = refund_case.payment_intent_id`;

/** One page of open cases. */
export const selectRefundCaseQueue = prepareRead<RefundCaseQueuePage, QueuedCaseReadRow>((parameters) => {
  let query = alongMerchant(
    db
      .selectFrom('refunds.refund_case')
      .select(columnsOf(RefundCaseEntity))
      .select(sql<boolean>`exists (${disputesOfCase} and closed_at is null)`.as('is_disputed'))
      .select(
        sql<Timestamp | null>`(select max(closed_at) from (${disputesOfCase}) as closed)`.as('undisputed_at'),
      ),
    parameters,
  );
  query = query.where(sql<boolean>`status in (${OPEN})`);
  if (parameters.has('status')) {
    query =
      parameters.has('merchantId') || parameters.has('blocker')
        ? query.where('status', '=', parameters('status'))
        : query.where(inFront('status', 'text', parameters('status'))).orderBy('status');
  }
  if (parameters.has('blocker')) {
    query = query
      .where(sql<boolean>`blocked_by <> '{}'`)
      .where(sql<boolean>`blocked_by @> array[${parameters('blocker')}]`);
  }
  if (parameters.has('requestedBy')) {
    query = query.where(sql<boolean>`requested_at <= ${parameters('requestedBy')}`);
  }
  return inOrder(query, refundCaseQueueOrder, parameters).compile();
});

/** A page of refunds that await the provider; undefined filters are ignored. */
interface ProviderQueuePage extends MerchantFilter, PageRange {
  readonly silentSince: Date | undefined;
}

/** A refund that awaits the provider. */
export type ProcessingReadRow = RefundCaseReadRow & { processing_started_at: Timestamp };

/** Refunds that await the provider are listed by debit, the oldest first. */
export const providerQueueOrder: ListOrder<ProcessingReadRow> = {
  columns: ['processing_started_at', 'id'],
  direction: 'asc',
};

export const selectProviderQueue = prepareRead<ProviderQueuePage, ProcessingReadRow>((parameters) => {
  let query = alongMerchant(
    db.selectFrom('refunds.refund_case').select(columnsOf(RefundCaseEntity)),
    parameters,
  )
    .where('status', '=', sql.lit('PROCESSING'))
    .$narrowType<{ processing_started_at: NotNull }>();
  if (parameters.has('silentSince')) {
    query = query.where(
      sql<boolean>`coalesce(provider_reported_at, processing_started_at) <= ${parameters('silentSince')}`,
    );
  }
  return inOrder(query, providerQueueOrder, parameters).compile();
});

/** A page of open disputes; undefined filters are ignored. */
interface DisputeQueuePage extends MerchantFilter, PageRange {
  readonly dueBy: Date | undefined;
  /** Only disputes whose response has not been submitted. */
  readonly responsesOnly: true | undefined;
}

/** One page of open disputes, in the order in which they are due. */
export const selectDisputeQueue = prepareRead<DisputeQueuePage, DueDisputeReadRow>((parameters) => {
  const open = db
    .selectFrom('refunds.dispute')
    .where('closed_at', 'is', null)
    .select(columnsOf(DisputeEntity))
    // The same expression as in the index dispute_queue.
    .select(sql<Timestamp>`coalesce(due_at, opened_at)`.as('due_or_opened_at'));
  let query = matchingMerchant(db.selectFrom(open.as('open')).selectAll(), parameters);
  if (parameters.has('dueBy')) {
    query = query.where(sql<boolean>`due_or_opened_at <= ${parameters('dueBy')}`);
  }
  if (parameters.has('responsesOnly')) {
    query = query.where('responded_at', 'is not', null).where('response_submitted_at', 'is', null);
  }
  return inOrder(query, dueDateOrder, parameters).compile();
});
