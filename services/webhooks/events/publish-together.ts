import { type JsonObject, toBinary } from '@bufbuild/protobuf';
import {
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import {
  claimUnusedKeys,
  type IdempotencyScope,
  recordResponses,
} from '../../platform/writes/idempotency-records.ts';
import { withoutData } from './published-answer.ts';

/** A valid event to publish under an idempotency key. */
export interface Publication {
  readonly scope: IdempotencyScope;
  readonly id: string;
  readonly type: string;
  readonly objectId: string;
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly data: JsonObject;
  /** False once the caller has stopped waiting for the answer. */
  isAwaited(): boolean;
  responseWith(sequence: bigint): PublishEventResponse;
}

/** How long the group waits for a transaction that is numbering events of the same object. */
const LOCK_TIMEOUT_MS = 100;

const PUBLISH: Statement = {
  name: 'publish_events',
  text: `
with asked as (
  select * from json_to_recordset(:rows::json) as a (
    merchant_id uuid, environment text, id uuid, type text, object_id text, request_id text,
    occurred_at timestamptz, data json)
), numbered as (
  insert into platform.object_sequence as s (merchant_id, environment, object_id, last_sequence)
  select merchant_id, environment, object_id, count(*) from asked
   group by merchant_id, environment, object_id order by merchant_id, environment, object_id
  on conflict (merchant_id, environment, object_id)
  do update set last_sequence = s.last_sequence + excluded.last_sequence
  returning merchant_id, environment, object_id, last_sequence
)
insert into platform.outbox_event
  (merchant_id, environment, id, type, object_id, sequence, request_id, occurred_at, data)
select a.merchant_id, a.environment, a.id, a.type, a.object_id,
       n.last_sequence + 1
         - row_number() over (partition by a.merchant_id, a.environment, a.object_id order by a.id desc),
       a.request_id, a.occurred_at, a.data
  from asked a
  join numbered n
    on n.merchant_id = a.merchant_id and n.environment = a.environment and n.object_id = a.object_id
returning id, sequence`,
};

/**
 * Publishes events with different idempotency keys in one transaction. Returns the responses of those it published; it
 * skips events whose key is used or in use. If it throws, it has published none.
 */
export async function publishTogether(
  db: CrossTenantDatabase,
  publications: readonly Publication[],
): Promise<Map<Publication, PublishEventResponse>> {
  const work = async (run: Run) => {
    const unused = await claimUnusedKeys(
      run,
      publications.map(({ scope }) => scope),
    );
    const awaited = unused.map((index) => publications[index]!).filter(({ isAwaited }) => isAwaited());
    const answers = await insertEvents(run, awaited);
    await recordAnswers(run, answers);
    if (!awaited.every(({ isAwaited }) => isAwaited())) throw new Error('a caller has stopped waiting');
    return answers;
  };
  return db.transaction(work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
}

async function insertEvents(run: Run, publications: readonly Publication[]) {
  if (publications.length === 0) return new Map<Publication, PublishEventResponse>();
  const rows = publications.map(({ scope, id, type, objectId, requestId, occurredAt, data }) => ({
    merchant_id: scope.merchantId,
    environment: scope.environment,
    id,
    type,
    data,
    object_id: objectId,
    request_id: requestId,
    occurred_at: occurredAt,
  }));
  const inserted = await run<{ id: string; sequence: bigint }>(PUBLISH, { rows: JSON.stringify(rows) });
  const sequences = new Map(inserted.map(({ id, sequence }) => [id, sequence]));
  return new Map(
    publications.map((publication) => [
      publication,
      publication.responseWith(sequences.get(publication.id)!),
    ]),
  );
}

const recordAnswers = (run: Run, answers: ReadonlyMap<Publication, PublishEventResponse>) =>
  recordResponses(
    run,
    [...answers].map(([{ scope }, response]) => ({
      scope,
      response: toBinary(PublishEventResponseSchema, withoutData(response)),
    })),
  );
