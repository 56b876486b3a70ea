import { toBinary } from '@bufbuild/protobuf';
import { type Event, EventSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { CommittedDelivery, CommittedEvent } from '../../platform/outbox/delivery-handover.ts';
import { eventRow, type PublishedEvent } from '../../platform/outbox/outbox.ts';
import { requestIdOf } from '../../platform/rpc/call-context.ts';
import { auditedRequest } from '../../platform/writes/audit.ts';
import { lockNameOf } from '../../platform/writes/idempotency-records.ts';
import { numbered, type Publication } from './publication.ts';

/** One statement, so that a group costs one round trip and one commit. */
export const PUBLISH_CALLS: Statement = {
  name: 'publish_calls',
  text: `
select call, id, sequence, body, deliveries
  from webhooks.publish_calls(:calls::json, :events::json, :answers::json)`,
};

interface PublishedRow extends PublishedEvent {
  /** The position of its publication. */
  readonly call: number;
  readonly body: string;
  readonly deliveries: readonly DeliveryRow[];
}

type DeliveryRow = readonly [
  id: string,
  subscriptionId: string,
  generation: number,
  ordered: boolean,
  status: CommittedDelivery['status'],
];

/** The result of publishing together: the events of each call, and all events with their deliveries. */
interface Published {
  readonly events: ReadonlyMap<Publication, Event[]>;
  readonly committed: readonly CommittedEvent[];
}

/**
 * Publishes calls with different idempotency keys in one transaction. Returns the events of those it published; it skips
 * calls whose key is used or in use. If it throws, it has published none.
 */
export async function publishTogether(
  db: CrossTenantDatabase,
  publications: readonly Publication[],
): Promise<Published> {
  const rows = await db.run<PublishedRow>(PUBLISH_CALLS, {
    calls: JSON.stringify(publications.map(callRow)),
    events: JSON.stringify(
      publications.flatMap(({ scope, events }) => events.map((event) => eventRow(scope, event))),
    ),
    answers: JSON.stringify(publications.flatMap(answerRows)),
  });
  const committed: CommittedEvent[] = [];
  const events = new Map<Publication, Event[]>();
  for (const [call, published] of Map.groupBy(rows, (row) => row.call)) {
    const publication = publications[call]!;
    events.set(publication, numbered(publication, published));
    for (const [place, row] of published.entries()) committed.push(committedEvent(publication, place, row));
  }
  return { events, committed };
}

function committedEvent({ scope, events }: Publication, place: number, row: PublishedRow): CommittedEvent {
  const { merchantId, environment } = scope;
  return {
    merchantId,
    environment,
    id: row.id,
    body: row.body,
    objectId: events[place]!.objectId,
    deliveries: row.deliveries.map(([id, subscriptionId, generation, ordered, status]) => ({
      id,
      subscriptionId,
      generation: BigInt(generation),
      ordered,
      status,
    })),
  };
}

function callRow({ scope, context, requestWithoutData }: Publication, call: number) {
  const { merchantId, environment, caller, method, key, requestHash } = scope;
  return {
    call,
    environment,
    caller,
    method,
    key,
    merchant_id: merchantId,
    lock_name: lockNameOf(scope),
    request_hash: requestHash.toString('base64'),
    request_id: requestIdOf(context),
    request: auditedRequest(context, requestWithoutData),
  };
}

const answerRows = ({ unnumbered }: Publication, call: number) =>
  unnumbered.map((event) => {
    const bytes = toBinary(EventSchema, { ...event, id: '', sequence: 0n });
    return { call, event: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
  });
