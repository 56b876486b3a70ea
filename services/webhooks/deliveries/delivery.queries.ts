import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type SelectQueryBuilder, sql } from 'kysely';
import { inFront, inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import type { EnvironmentName, RecordKey, Tenant } from '../../platform/tenant.ts';
import { DeliveryEntity } from './delivery.entity.ts';
import type { AttemptFailureName, DeliveryStatusName } from './delivery.ts';

/** A delivery as hot reads return it; its id contains the time of its creation. */
export type DeliveryReadRow = ReadTable<typeof DeliveryEntity>;

/** An attempt as hot reads return it. */
export interface AttemptReadRow {
  number: number;
  started_at: Timestamp;
  ended_at: Timestamp | null;
  latency_ms: number | null;
  http_status: number | null;
  failure: AttemptFailureName | null;
  response_excerpt: string | null;
  detail: string | null;
}

/** An attempt with its request and the response's headers. */
export interface FullAttemptReadRow extends AttemptReadRow {
  generation: bigint;
  signature: string | null;
  timing_ms: (number | null)[] | null;
  response_headers: string | null;
}

interface DeliveryTables {
  'webhooks.delivery': DeliveryReadRow;
  'webhooks.event': {
    merchant_id: string;
    environment: EnvironmentName;
    id: string;
    object_id: string;
    request_id: string;
    body: string;
  };
  'webhooks.subscription': {
    merchant_id: string;
    environment: EnvironmentName;
    id: string;
    url: string;
    url_generation: bigint;
  };
  'webhooks.delivery_attempt': FullAttemptReadRow & {
    merchant_id: string;
    environment: EnvironmentName;
    delivery_id: string;
  };
}

/** Builds reads of deliveries, their events and attempts. */
export const db = queryBuilder<DeliveryTables>();

const ofMerchant = (parameters: ReadParameters<Tenant>) =>
  db
    .selectFrom('webhooks.delivery')
    .where('merchant_id', '=', parameters('merchantId'))
    .select(columnsOf(DeliveryEntity));

const deliveries = (parameters: ReadParameters<Tenant>) =>
  ofMerchant(parameters).where('environment', '=', parameters('environment'));

/** A read of deliveries. */
export type Deliveries = ReturnType<typeof deliveries>;

/** What a list is read along: indexes have it after the merchant, and before the id. */
export type Leading = 'environment' | 'subscriptionId' | 'resendId';

/** The deliveries with one value of `leading`, and ordered by it, so that the index by id alone does not fit. */
export function deliveriesAlong(
  leading: Leading,
  parameters: ReadParameters<Tenant & DeliveryFilters>,
): Deliveries {
  const column = columnOf(leading);
  const [query, type] =
    leading === 'environment'
      ? ([ofMerchant(parameters), 'text'] as const)
      : ([deliveries(parameters), 'uuid'] as const);
  return query.where(inFront(column, type, parameters(leading))).orderBy(column, 'desc');
}

/** The column of what a list is read along. */
export const columnOf = (leading: Leading) => (leading === 'environment' ? leading : FILTER_COLUMNS[leading]);

export const selectDelivery = prepareRead<RecordKey, DeliveryReadRow>((parameters) =>
  deliveries(parameters).where('id', '=', parameters('id')).compile(),
);

/** Which deliveries to list; undefined filters are ignored. */
export interface DeliveryFilters {
  readonly subscriptionId: string | undefined;
  readonly eventId: string | undefined;
  readonly eventType: string | undefined;
  readonly objectId: string | undefined;
  readonly requestId: string | undefined;
  readonly resendId: string | undefined;
  /** The lower bound of ids, inclusive. */
  readonly fromId: string | undefined;
  /** The upper bound of ids, exclusive. */
  readonly toId: string | undefined;
}

type DeliveryPage = Tenant & DeliveryFilters & PageRange;

/** Deliveries are listed newest first; their ids are in creation order. */
export const deliveryOrder: ListOrder<DeliveryReadRow> = { columns: ['id'], direction: 'desc' };

/**
 * Restricts a read to a status. It is a literal, not a parameter: only then does the planner skip the table that cannot have
 * it, and use the partial indexes of rare statuses.
 */
export const withStatus = (query: Deliveries, status: DeliveryStatusName | undefined) =>
  status ? query.where('status', '=', sql.lit(status)) : query;

/** Restricts a read to the period of a list. */
export function inPeriod(query: Deliveries, parameters: ReadParameters<DeliveryFilters>): Deliveries {
  let read = query;
  if (parameters.has('fromId')) read = read.where('id', '>=', parameters('fromId'));
  if (parameters.has('toId')) read = read.where('id', '<', parameters('toId'));
  return read;
}

/** The columns of the filters that a delivery has itself. */
const FILTER_COLUMNS = {
  subscriptionId: 'subscription_id',
  eventId: 'event_id',
  eventType: 'event_type',
  resendId: 'resend_id',
} as const;

/** Restricts a read along `leading` to the deliveries that match the other filters of those columns. */
export function matching<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  leading: Leading | undefined,
  parameters: ReadParameters<DeliveryFilters>,
): SelectQueryBuilder<DB, TB, Row> {
  let read = query;
  for (const name of Object.keys(FILTER_COLUMNS) as (keyof typeof FILTER_COLUMNS)[]) {
    if (name === leading || !parameters.has(name)) continue;
    read = read.where(sql<boolean>`${sql.ref(FILTER_COLUMNS[name])} = ${parameters(name)}`);
  }
  return read;
}

const preparePage = (status: DeliveryStatusName | undefined) =>
  prepareRead<DeliveryPage, DeliveryReadRow>((parameters) => {
    const isOfEvents = parameters.has('requestId') || parameters.has('objectId') || parameters.has('eventId');
    const leading = isOfEvents ? undefined : leadingOf(parameters);
    const all = leading ? deliveriesAlong(leading, parameters) : deliveries(parameters);
    const query = matching(inPeriod(withStatus(all, status), parameters), leading, parameters);
    if (!parameters.has('requestId') && !parameters.has('objectId'))
      return inOrder(query, deliveryOrder, parameters).compile();
    const found = ofEvents(query, parameters);
    return inOrder(found, deliveryOrder, parameters).compile();
  });

function leadingOf(parameters: ReadParameters<DeliveryFilters>): Leading {
  if (parameters.has('subscriptionId')) return 'subscriptionId';
  return parameters.has('resendId') ? 'resendId' : 'environment';
}

/**
 * Filters by the events of a request or an object, of which there are few: the event log has indexes for both, ended
 * deliveries have neither.
 */
function ofEvents(
  query: Deliveries,
  parameters: ReadParameters<Tenant & Pick<DeliveryPage, 'requestId' | 'objectId'>>,
) {
  let events = db
    .selectFrom('webhooks.event')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select('id');
  if (parameters.has('requestId')) events = events.where('request_id', '=', parameters('requestId'));
  if (parameters.has('objectId')) events = events.where('object_id', '=', parameters('objectId'));
  const found = query.where('event_id', '=', sql<string>`any (array(${events}))`);
  return db
    .with(
      (name) => name('delivery').materialized(),
      () => found,
    )
    .selectFrom('delivery')
    .selectAll();
}

const pages = new Map<DeliveryStatusName | undefined, ReturnType<typeof preparePage>>();

/** One page of deliveries, in all statuses or in one. */
export function selectDeliveries(status: DeliveryStatusName | undefined, page: DeliveryPage) {
  const prepared = pages.get(status) ?? preparePage(status);
  pages.set(status, prepared);
  return prepared(page);
}

/** The attempts of a delivery, first to last. */
export const selectAttempts = prepareRead<RecordKey, FullAttemptReadRow>((parameters) =>
  db
    .selectFrom('webhooks.delivery_attempt')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('delivery_id', '=', parameters('id'))
    .select(['number', 'started_at', 'ended_at', 'latency_ms', 'http_status', 'failure'])
    .select(['response_excerpt', 'detail', 'generation', 'signature', 'timing_ms', 'response_headers'])
    .orderBy('number')
    .compile(),
);

/** The body of an event; none once it has been deleted. */
export const selectBody = prepareRead<RecordKey, { body: string }>((parameters) =>
  db
    .selectFrom('webhooks.event')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .select('body')
    .compile(),
);

/** The URL of a subscription, with the generation in which it was set, and whether the subscription is a listener. */
export interface TargetReadRow {
  url: string;
  url_generation: bigint;
  is_listener: boolean;
}

/** The target of a subscription's deliveries; none once a listener has gone. */
export const selectTarget = prepareRead<RecordKey, TargetReadRow>((parameters) =>
  db
    .selectFrom('webhooks.subscription')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .select(['url', 'url_generation', sql<boolean>`listening_until is not null`.as('is_listener')])
    .compile(),
);

interface LastAttemptRow extends AttemptReadRow {
  delivery_id: string;
}

/** The last attempt of each of some deliveries, without its excerpt. */
export const selectLastAttempts = prepareRead<Tenant & { readonly ids: readonly string[] }, LastAttemptRow>(
  (parameters) =>
    db
      .selectFrom('webhooks.delivery_attempt')
      .where('merchant_id', '=', parameters('merchantId'))
      .where('environment', '=', parameters('environment'))
      .where('delivery_id', '=', sql<string>`any (${parameters('ids')}::uuid[])`)
      .distinctOn('delivery_id')
      .select([
        'delivery_id',
        'number',
        'started_at',
        'ended_at',
        'latency_ms',
        'http_status',
        'failure',
        'detail',
      ])
      .select(sql<null>`null`.as('response_excerpt'))
      .orderBy('delivery_id')
      .orderBy('number', 'desc')
      .compile(),
);
