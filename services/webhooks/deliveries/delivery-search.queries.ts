import { sql } from 'kysely';
import { inOrder, inSearch, type PageRange, type SearchRange } from '../../platform/reads/list-order.ts';
import type { Search } from '../../platform/reads/pagination.ts';
import { type PreparedRead, prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import {
  type Deliveries,
  type DeliveryFilters,
  type DeliveryReadRow,
  db,
  deliveries,
  deliveryOrder,
  inPeriod,
  withStatus,
} from './delivery.queries.ts';
import type { DeliveryStatusName } from './delivery.ts';

const OPEN: readonly DeliveryStatusName[] = ['PENDING', 'RETRYING', 'HELD', 'BLOCKED'];
const ENDED: readonly DeliveryStatusName[] = ['SUCCEEDED', 'EXHAUSTED', 'CANCELED'];
/** Most deliveries have one of these, so neither has an index. */
const COMMON: readonly DeliveryStatusName[] = ['PENDING', 'SUCCEEDED'];

type Source = 'subscriptionId' | 'resendId' | 'eventType' | 'status' | 'newest';
type Range = Tenant & DeliveryFilters & SearchRange;
type End = Tenant & DeliveryFilters & PageRange & { readonly skipped: number };

/**
 * The search for deliveries by a status and filters, unless one index has exactly those that match, or they are of a few
 * events. Only ended deliveries have an index by event type: among open ones, a type is searched for.
 */
export function deliverySearch(
  tenant: Tenant,
  status: DeliveryStatusName | undefined,
  filters: DeliveryFilters,
): Search<DeliveryReadRow, Source> | undefined {
  if (filters.eventId ?? filters.requestId ?? filters.objectId) return undefined;
  const given = (['subscriptionId', 'resendId', 'eventType'] as const).filter((name) => filters[name]);
  const sources: Source[] = status && !COMMON.includes(status) ? [...given, 'status'] : given;
  const count = given.length + (status ? 1 : 0);
  if (count === 0 || (count === 1 && sources.length === 1 && !filters.eventType)) return undefined;
  return {
    sources: sources.length > 0 ? sources : ['newest'],
    select: (source, range) => statementsOf(source, status).page({ ...tenant, ...filters, ...range }),
    selectEnd: (source, range) => statementsOf(source, status).end({ ...tenant, ...filters, ...range }),
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
    const read = inSearch(ofSource(source, status, parameters), deliveryOrder, parameters);
    let page = db
      .selectFrom(read.as('delivery'))
      .selectAll()
      .orderBy('id', 'desc')
      .limit(parameters('limit'));
    if (status) page = page.where('status', '=', sql.lit(status));
    if (parameters.has('subscriptionId'))
      page = page.where('subscription_id', '=', parameters('subscriptionId'));
    if (parameters.has('eventType')) page = page.where('event_type', '=', parameters('eventType'));
    if (parameters.has('resendId')) page = page.where('resend_id', '=', parameters('resendId'));
    return page.compile();
  });

const prepareEnd = (source: Source, status: DeliveryStatusName | undefined) =>
  prepareRead<End, Pick<DeliveryReadRow, 'id'>>((parameters) => {
    const endOf = (read: Deliveries) =>
      inOrder(read, deliveryOrder, parameters).clearSelect().select('id').offset(parameters('skipped'));
    if (source !== 'eventType') return endOf(ofSource(source, status, parameters)).compile();
    const ended = ofSource(source, status, parameters).where('status', 'in', literals(ENDED));
    const open = ofSource('newest', status, parameters).where('status', 'in', literals(OPEN));
    const ends = sql<{ id: string }>`((${endOf(ended)}) union all (${endOf(open)}))`;
    return db.selectFrom(ends.as('ends')).select('id').orderBy('id', 'desc').limit(1).compile();
  });

function ofSource(
  source: Source,
  status: DeliveryStatusName | undefined,
  parameters: ReadParameters<Tenant & DeliveryFilters>,
): Deliveries {
  let query = inPeriod(deliveries(parameters), parameters);
  if (source === 'status') return withStatus(query, status);
  // The planner skips the table whose check does not allow them.
  if (status) query = query.where('status', 'in', literals(OPEN.includes(status) ? OPEN : ENDED));
  if (source === 'subscriptionId') return query.where('subscription_id', '=', parameters('subscriptionId'));
  if (source === 'eventType') return query.where('event_type', '=', parameters('eventType'));
  if (source === 'resendId') return query.where('resend_id', '=', parameters('resendId'));
  return query;
}

const literals = (statuses: readonly DeliveryStatusName[]) => statuses.map((status) => sql.lit(status));
