import type { JsonObject } from '@bufbuild/protobuf';
import type { EntityManager } from '@mikro-orm/postgresql';
import { jsonRows } from '../database/json-rows.ts';
import { executeNamed } from '../database/named-sql.ts';
import type { Tenant } from '../tenant.ts';

/** An event of the catalog, delivered after the transaction that publishes it commits. */
export interface OutboxEvent {
  /** An event type of the catalog, such as `refund.requested.v1`. */
  readonly type: string;
  /** The object that the event is about; its events are numbered from 1 without gaps. */
  readonly objectId: string;
  readonly data: JsonObject;
  readonly requestId: string;
  readonly occurredAt: Date;
}

/** Publishes events of any merchants: `:events` are the `jsonRows` of {@link eventRow}s. Returns a row per event, in order. */
const PUBLISH_EVENTS = 'select id, sequence from webhooks.publish(:events::json)';

/** An event's id, and its sequence number among the events of its object. */
export interface PublishedEvent {
  readonly id: string;
  readonly sequence: bigint;
}

/** A delivery that a publication has added, as committed. */
export interface CommittedDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly generation: bigint;
  readonly ordered: boolean;
  readonly status: 'PENDING' | 'HELD' | 'BLOCKED';
}

/** An event that was committed, with its deliveries. */
export interface CommittedEvent extends Tenant {
  readonly id: string;
  readonly objectId: string;
  /** What is signed and sent. */
  readonly body: string;
  readonly deliveries: readonly CommittedDelivery[];
}

/** An event as {@link PUBLISH_EVENTS} takes it. */
export const eventRow = ({ merchantId, environment }: Tenant, event: OutboxEvent) => ({
  merchantId,
  environment,
  type: event.type,
  objectId: event.objectId,
  requestId: event.requestId,
  occurredAt: event.occurredAt,
  data: event.data,
});

/** Publishes events in the caller's transaction with one statement; those of an object keep their order. */
export async function insertEvents(
  em: EntityManager,
  tenant: Tenant,
  events: readonly OutboxEvent[],
): Promise<PublishedEvent[]> {
  const rows = events.map((event) => eventRow(tenant, event));
  const published = await executeNamed<{ id: string; sequence: string | number | bigint }>(
    em,
    PUBLISH_EVENTS,
    { events: jsonRows(rows) },
  );
  return published.map(({ id, sequence }) => ({ id, sequence: BigInt(sequence) }));
}
