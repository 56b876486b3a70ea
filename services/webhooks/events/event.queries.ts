import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { EnvironmentName, RecordKey, Tenant } from '../../platform/tenant.ts';

/** An event as hot reads return it, with its data as JSON text. */
export interface EventReadRow {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  type: string;
  object_id: string;
  sequence: bigint;
  request_id: string;
  occurred_at: Timestamp;
  data: string;
}

interface EventTables {
  'webhooks.event': EventReadRow;
}

const db = queryBuilder<EventTables>();

function events(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('webhooks.event')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select([
      'merchant_id',
      'environment',
      'id',
      'type',
      'object_id',
      'sequence',
      'request_id',
      'occurred_at',
    ])
    .select(sql<string>`(body::json -> 'data')::text`.as('data'));
}

export const selectEvent = prepareRead<RecordKey, EventReadRow>((parameters) =>
  events(parameters).where('id', '=', parameters('id')).compile(),
);

interface EventPage extends Tenant, PageRange {
  readonly type: string | undefined;
  readonly objectId: string | undefined;
  readonly requestId: string | undefined;
  /** The lower bound of ids, inclusive. */
  readonly fromId: string | undefined;
  /** The upper bound of ids, exclusive. */
  readonly toId: string | undefined;
}

/** Events are listed newest first; their ids are in publishing order. */
export const eventOrder: ListOrder<EventReadRow> = { columns: ['id'], direction: 'desc' };

export const selectEvents = prepareRead<EventPage, EventReadRow>((parameters) => {
  let query = events(parameters);
  if (parameters.has('type')) query = query.where('type', '=', parameters('type'));
  if (parameters.has('objectId')) query = query.where('object_id', '=', parameters('objectId'));
  if (parameters.has('requestId')) query = query.where('request_id', '=', parameters('requestId'));
  if (parameters.has('fromId')) query = query.where('id', '>=', parameters('fromId'));
  if (parameters.has('toId')) query = query.where('id', '<', parameters('toId'));
  return inOrder(query, eventOrder, parameters).compile();
});
