import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import type { CivilDate } from '../../platform/civil-date.ts';
import { isAnyOf } from '../../platform/reads/ids.ts';
import { inFront, inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import { startOf } from '../../platform/reads/start-of-date.ts';
import type { RecordKey, Tenant } from '../../platform/tenant.ts';
import { DisputeEntity } from '../refund-case.entity.ts';
import type { DisputeOutcome } from './dispute.ts';

/** A dispute as hot reads return it. */
export type DisputeReadRow = ReadTable<typeof DisputeEntity>;

const db = queryBuilder<{ 'refunds.dispute': DisputeReadRow }>();

const ofMerchant = (parameters: ReadParameters<Tenant>) =>
  db
    .selectFrom('refunds.dispute')
    .select(columnsOf(DisputeEntity))
    .where('merchant_id', '=', parameters('merchantId'));

const disputes = (parameters: ReadParameters<Tenant>) =>
  ofMerchant(parameters).where('environment', '=', parameters('environment'));

function matchingDisputes(parameters: ReadParameters<Tenant & DisputeFilter>, from = disputes(parameters)) {
  let query = from;
  if (parameters.has('from')) query = query.where('opened_at', '>=', startOf(parameters('from'), 0));
  if (parameters.has('to')) query = query.where('opened_at', '<', startOf(parameters('to'), 1));
  if (parameters.has('paymentIntentId')) {
    query = query.where('payment_intent_id', '=', parameters('paymentIntentId'));
  }
  if (parameters.has('disputeIds')) query = query.where(isAnyOf('id', parameters('disputeIds')));
  if (parameters.has('saleIds')) query = query.where(isAnyOf('sale_id', parameters('saleIds')));
  if (parameters.has('outcome')) query = query.where('outcome', '=', parameters('outcome'));
  return query;
}

export const selectDispute = prepareRead<RecordKey, DisputeReadRow>((parameters) =>
  disputes(parameters).where('id', '=', parameters('id')).compile(),
);

/** Which of a merchant's disputes to list; undefined filters are ignored. */
export interface DisputeFilter {
  /** Dates of the opening, inclusive. */
  readonly from?: CivilDate | undefined;
  readonly to?: CivilDate | undefined;
  readonly paymentIntentId: string | undefined;
  readonly disputeIds?: readonly string[] | undefined;
  readonly saleIds?: readonly string[] | undefined;
  readonly outcome: DisputeOutcome | undefined;
}

type DisputePage = Tenant & DisputeFilter & PageRange;

/** A page of the disputes that can be responded to at a time. */
interface AwaitingDisputePage extends DisputePage {
  readonly status: 'OPEN' | 'CLOSED' | undefined;
  readonly now: Date;
}

/** A dispute, and the time by which it is ordered: its due date or, without one, its opening. */
export type DueDisputeReadRow = DisputeReadRow & { due_or_opened_at: Timestamp };

export const disputeOrder: ListOrder<DisputeReadRow> = { columns: ['opened_at', 'id'], direction: 'desc' };

/** Disputes awaiting the merchant's response are listed earliest due date first. */
export const dueDateOrder: ListOrder<DueDisputeReadRow> = {
  columns: ['due_or_opened_at', 'id'],
  direction: 'asc',
};

/** A page of all, open or closed disputes. */
export const selectDisputes = {
  ALL: disputePage(),
  OPEN: disputePage('is'),
  CLOSED: disputePage('is not'),
} as const;

/** @param closedNull how `closed_at` compares to null; a part of the statement, so that an index by it is used. */
function disputePage(closedNull?: 'is' | 'is not') {
  return prepareRead<DisputePage, DisputeReadRow>((parameters) => {
    let query = matchingDisputes(parameters);
    if (closedNull) query = query.where('closed_at', closedNull, null);
    if (closedNull === 'is') query = noneWithOutcome(query, parameters);
    return inOrder(query, disputeOrder, parameters).compile();
  });
}

/**
 * One page of the disputes awaiting the merchant's response, in the order in which they are due. Those without a due date, which
 * come first, have a separate index: in the index of both, many whose due date has passed may lie between them and the others.
 */
export const selectAwaitingDisputes = prepareRead<AwaitingDisputePage, DueDisputeReadRow>((parameters) => {
  const inEnvironment = ofMerchant(parameters).where(
    inFront('environment', 'text', parameters('environment')),
  );
  let awaiting = noneWithOutcome(matchingDisputes(parameters, inEnvironment), parameters)
    .where('closed_at', 'is', null)
    .where('responded_at', 'is', null)
    .select(DUE_OR_OPENED.as('due_or_opened_at'));
  // No closed dispute awaits a response.
  if (parameters.has('status')) awaiting = awaiting.where(sql<boolean>`${parameters('status')} = 'OPEN'`);
  const dated = awaiting
    .where('due_at', 'is not', null)
    .where(sql<boolean>`${DUE_OR_OPENED} > ${parameters('now')}`);
  const parts = [awaiting.where('due_at', 'is', null), dated].map((part) => {
    const page = db.selectFrom(part.as('part')).selectAll().orderBy('environment');
    return sql`(${inOrder(page, dueDateOrder, parameters)})`;
  });
  const due = sql<DueDisputeReadRow>`(${sql.join(parts, sql` union all `)})`.as('due');
  return db
    .selectFrom(due)
    .selectAll()
    .orderBy('environment')
    .orderBy('due_or_opened_at')
    .orderBy('id')
    .limit(parameters('limit'))
    .compile();
});

/** The same expression as in the indexes dispute_awaiting and dispute_awaiting_undated. */
const DUE_OR_OPENED = sql<Timestamp>`coalesce(due_at, opened_at)`;

/** Open disputes have no outcome: a filter by outcome matches none of them, and PostgreSQL need not read any. */
function noneWithOutcome<Query extends ReturnType<typeof matchingDisputes>>(
  query: Query,
  parameters: ReadParameters<DisputeFilter>,
): Query {
  return parameters.has('outcome') ? (query.where(sql<boolean>`false`) as Query) : query;
}

/** The disputes that match with one outcome. */
export interface DisputeTotalRow {
  /** Null for open disputes. */
  outcome: DisputeOutcome | null;
  count: number;
  /** The sum of disputes with an amount in centavos, as text: it may exceed 64 bits. */
  amount_minor: string;
  /** The disputes that may have a deduction. */
  deducting_ids: string[];
}

interface DisputeTotals extends Tenant, DisputeFilter {
  readonly status: 'OPEN' | 'CLOSED' | undefined;
}

/** The sums of the disputes that match, by outcome. */
export const selectDisputeTotals = prepareRead<DisputeTotals, DisputeTotalRow>((parameters) => {
  let matching = matchingDisputes(parameters);
  if (parameters.has('status')) {
    matching = matching.where(sql<boolean>`(closed_at is null) = (${parameters('status')} = 'OPEN')`);
  }
  return db
    .selectFrom(matching.as('matching'))
    .select(['outcome', sql<number>`count(*)::int`.as('count')])
    .select(sql<string>`coalesce(sum(amount_minor), 0)::text`.as('amount_minor'))
    .select(sql<string[]>`coalesce(array_agg(id) filter (where outcome <> 'WON'), '{}')`.as('deducting_ids'))
    .groupBy('outcome')
    .compile();
});
