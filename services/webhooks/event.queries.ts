import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import { queryBuilder } from '../platform/database.ts';
import { prepareRead } from '../platform/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';

interface StoredEvent {
  merchant_id: string;
  environment: EnvironmentName;
  id: string;
  type: string;
  object_id: string;
  sequence: bigint;
  request_id: string;
  occurred_at: Timestamp;
}

interface EventTables {
  'webhooks.event': StoredEvent & { body: string };
  'platform.outbox_event': StoredEvent & { data: string };
}

/** An event as hot reads answer it: its data as JSON text. */
export interface EventReadRow extends StoredEvent {
  data: string;
}

interface EventKey extends Tenant {
  readonly id: string;
}

const db = queryBuilder<EventTables>();
const COLUMNS = [
  'merchant_id',
  'environment',
  'id',
  'type',
  'object_id',
  'sequence',
  'request_id',
  'occurred_at',
] as const;

/** One event, be it on its way to dispatch or past it. */
export const selectEvent = prepareRead<EventKey, EventReadRow>((parameters) =>
  db
    .selectFrom('webhooks.event')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('id', '=', parameters('id'))
    .select(COLUMNS)
    .select(sql<string>`(body::json -> 'data')::text`.as('data'))
    .unionAll(
      db
        .selectFrom('platform.outbox_event')
        .where('merchant_id', '=', parameters('merchantId'))
        .where('environment', '=', parameters('environment'))
        .where('id', '=', parameters('id'))
        .select(COLUMNS)
        .select(sql<string>`data::text`.as('data')),
    )
    .$castTo<EventReadRow>()
    .compile(),
);
