import { sql } from 'kysely';
import { inOrder, inSearch, type PageRange, type SearchRange } from '../../platform/reads/list-order.ts';
import type { Search } from '../../platform/reads/pagination.ts';
import { type PreparedRead, prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import {
  columnOf,
  type Deliveries,
  type DeliveryFilters,
  type DeliveryReadRow,
  db,
  deliveriesAlong,
  deliveryOrder,
  inPeriod,
  type Leading,
  matching,
  selectDeliveries,
  withStatus,
} from './delivery.queries.ts';
import type { DeliveryStatusName } from './delivery.ts';

const OPEN: readonly DeliveryStatusName[] = ['PENDING', 'RETRYING', 'HELD', 'BLOCKED'];
const ENDED: readonly DeliveryStatusName[] = ['SUCCEEDED', 'EXHAUSTED', 'CANCELED'];
/** Most deliveries have one of these, so neither has an index. */
const COMMON: readonly DeliveryStatusName[] = ['PENDING', 'SUCCEEDED'];

/** An index by a filter, or all open deliveries, or all with other statuses than the one asked for. */
type Source = 'subscriptionId' | 'resendId' | 'eventType' | 'status' | 'open' | 'otherStatuses';
type Range = Tenant & DeliveryFilters & SearchRange;
type End = Tenant & DeliveryFilters & PageRange & { readonly skipped: number };

/**
 * The search for deliveries by a status and filters, unless one index has exactly those that match, or they are of a few
 * events. Only ended deliveries have an index by event type.
 */
export function deliverySearch(
  tenant: Tenant,
  status: DeliveryStatusName | undefined,
  filters: DeliveryFilters,
): Search<DeliveryReadRow, Source> | undefined {
  if (filters.eventId ?? filters.requestId ?? filters.objectId) return undefined;
  const given = (['subscriptionId', 'resendId', 'eventType'] as const).filter((name) => filters[name]);
  const isCommon = status !== undefined && COMMON.includes(status);
  const selectEnd = (source: Source, range: Omit<End, keyof (Tenant & DeliveryFilters)>) =>
    statementsOf(source, status).end({ ...tenant, ...filters, ...range });
  if (given.length + (status ? 1 : 0) > 1) {
    return {
      sources: status && !isCommon ? [...given, 'status'] : given,
      select: (source, range) => statementsOf(source, status).page({ ...tenant, ...filters, ...range }),
      selectEnd,
    };
  }
  if (!isCommon && !filters.eventType) return undefined;
  return {
    sources: [isCommon ? 'otherStatuses' : 'open'],
    select: (_source, { until, untilTie: _, ...range }) =>
      selectDeliveries(status, { ...tenant, ...filters, ...range, fromId: until ?? filters.fromId }),
    selectEnd,
  };
}

interface Statements {
  page(range: Range): PreparedRead<DeliveryReadRow>;
  end(range: End): PreparedRead<Pick<DeliveryReadRow, 'id'>>;
}

const prepared = new Map<string, Statements>();

function statementsOf(source: Source, status: DeliveryStatusName | undefined): Statements {
  const name = `${source} ${status}`;
  let statements = prepared.get(name);
  if (!statements) {
    statements = { page: preparePage(source, status), end: prepareEnd(source, status) };
    prepared.set(name, statements);
  }
  return statements;
}

const preparePage = (source: Source, status: DeliveryStatusName | undefined) =>
  prepareRead<Range, DeliveryReadRow>((parameters) => {
    const read = inSearch(bySource(source, status, parameters), deliveryOrder, parameters);
    const leading = leadingOf(source);
    let page = matching(db.selectFrom(read.as('delivery')).selectAll(), leading, parameters);
    if (status) page = page.where('status', '=', sql.lit(status));
    // The order of what is read, so that it is not sorted.
    return page.orderBy(columnOf(leading), 'desc').orderBy('id', 'desc').limit(parameters('limit')).compile();
  });

const prepareEnd = (source: Source, status: DeliveryStatusName | undefined) =>
  prepareRead<End, Pick<DeliveryReadRow, 'id'>>((parameters) => {
    const ends = partsOf(source, status, parameters).map((part) => {
      const end = inOrder(part, deliveryOrder, parameters).clearSelect().select('id');
      return sql`(${end.offset(parameters('skipped'))})`;
    });
    return db
      .selectFrom(sql<{ id: string }>`(${sql.join(ends, sql` union all `)})`.as('ends'))
      .select('id')
      .orderBy('id', 'desc')
      .limit(1)
      .compile();
  });

/** What a search reads of a source, in parts that each have an index. */
function partsOf(
  source: Source,
  status: DeliveryStatusName | undefined,
  parameters: ReadParameters<Tenant & DeliveryFilters>,
): Deliveries[] {
  const all = inPeriod(deliveriesAlong('environment', parameters), parameters);
  const open = all.where('status', 'in', literals(OPEN));
  if (source === 'open') return [open];
  if (source === 'otherStatuses') {
    const others = groupOf(status!).filter((other) => other !== status);
    return others.map((other) => withStatus(all, other));
  }
  const read = bySource(source, status, parameters);
  if (source !== 'eventType') return [read];
  const ended = read.where('status', 'in', literals(ENDED));
  return status ? [groupOf(status) === OPEN ? open : ended] : [ended, open];
}

const leadingOf = (source: Source): Leading =>
  source === 'subscriptionId' || source === 'resendId' ? source : 'environment';

function bySource(
  source: Source,
  status: DeliveryStatusName | undefined,
  parameters: ReadParameters<Tenant & DeliveryFilters>,
): Deliveries {
  let query = inPeriod(deliveriesAlong(leadingOf(source), parameters), parameters);
  if (source === 'status') return withStatus(query, status);
  // The planner skips the table whose check does not allow them.
  if (status) query = query.where('status', 'in', literals(groupOf(status)));
  return source === 'eventType' ? query.where('event_type', '=', parameters(source)) : query;
}

const groupOf = (status: DeliveryStatusName) => (OPEN.includes(status) ? OPEN : ENDED);

const literals = (statuses: readonly DeliveryStatusName[]) => statuses.map((status) => sql.lit(status));
