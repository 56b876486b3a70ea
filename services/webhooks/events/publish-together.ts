import { type JsonObject, toBinary } from '@bufbuild/protobuf';
import {
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Run, Statement } from '../../platform/database/cross-tenant-database.ts';
import type { IdempotencyScope } from '../../platform/writes/writes.ts';
import { withoutData } from './published-answer.ts';

/** A valid event to publish under an idempotency key. */
export interface Publication {
  readonly scope: IdempotencyScope;
  readonly lockName: string;
  readonly id: string;
  readonly type: string;
  readonly objectId: string;
  readonly requestId: string;
  readonly occurredAt: Date;
  readonly data: JsonObject;
  /** False once nobody waits for the answer any more. */
  isAwaited(): boolean;
  responseWith(sequence: bigint): PublishEventResponse;
}

/** An object that another transaction numbers events of holds up the others no longer. */
const LOCK_TIMEOUT_MS = 100;

/** Answers the positions, from 1, of keys that are nobody's and were never used. */
const TAKE_KEYS: Statement = {
  name: 'take_keys',
  text: `
select asked.position::int
  from json_to_recordset($1::json) as asked (
    lock_name text, merchant_id uuid, environment text, caller text, method text, key text, position int)
 cross join lateral (select pg_try_advisory_xact_lock(hashtextextended(asked.lock_name, 0)) as locked offset 0) lock
  left join lateral (
    select true as found from platform.idempotency_record r
     where r.merchant_id = asked.merchant_id and r.environment = asked.environment and r.caller = asked.caller
       and r.method = asked.method and r.key = asked.key
     limit 1
  ) recorded on true
 where lock.locked and recorded.found is null`,
};

const PUBLISH: Statement = {
  name: 'publish_events',
  text: `
with asked as (
  select * from json_to_recordset($1::json) as a (
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

/** Answers a row for each key that was still unused. */
const RECORD: Statement = {
  name: 'record_published',
  text: `
insert into platform.idempotency_record (merchant_id, environment, caller, method, key, request_hash, response)
select merchant_id, environment, caller, method, key, decode(request_hash, 'base64'), decode(response, 'base64')
  from json_to_recordset($1::json) as a (
    merchant_id uuid, environment text, caller text, method text, key text, request_hash text, response text)
on conflict do nothing
returning 1`,
};

/**
 * Publishes events, each under a key of its own, in one transaction. Answers those it published; the others, and all
 * when it throws, are as if they had never been asked for.
 */
export async function publishTogether(
  db: CrossTenantDatabase,
  publications: readonly Publication[],
): Promise<Map<Publication, PublishEventResponse>> {
  const work = async (run: Run) => {
    const taken = await takeKeys(run, publications);
    const awaited = taken.filter(({ isAwaited }) => isAwaited());
    const answers = await insertEvents(run, awaited);
    await recordAnswers(run, answers);
    if (!awaited.every(({ isAwaited }) => isAwaited())) throw new Error('a caller has gone meanwhile');
    return answers;
  };
  return db.transaction(work, { lockTimeoutMs: LOCK_TIMEOUT_MS });
}

async function takeKeys(run: Run, publications: readonly Publication[]): Promise<Publication[]> {
  const keys = publications.map(({ scope, lockName }, index) => ({
    ...keyColumns(scope),
    lock_name: lockName,
    position: index,
  }));
  const taken = await run<{ position: number }>(TAKE_KEYS, [JSON.stringify(keys)]);
  return taken.map(({ position }) => publications[position]!);
}

async function insertEvents(run: Run, publications: readonly Publication[]) {
  if (publications.length === 0) return new Map<Publication, PublishEventResponse>();
  const rows = publications.map(({ scope, id, type, objectId, requestId, occurredAt, data }) => ({
    ...{ merchant_id: scope.merchantId, environment: scope.environment, id, type, data },
    ...{ object_id: objectId, request_id: requestId, occurred_at: occurredAt },
  }));
  const inserted = await run<{ id: string; sequence: bigint }>(PUBLISH, [JSON.stringify(rows)]);
  const sequences = new Map(inserted.map(({ id, sequence }) => [id, sequence]));
  return new Map(
    publications.map((publication) => [
      publication,
      publication.responseWith(sequences.get(publication.id)!),
    ]),
  );
}

async function recordAnswers(run: Run, answers: ReadonlyMap<Publication, PublishEventResponse>) {
  if (answers.size === 0) return;
  const rows = [...answers].map(([{ scope }, response]) => ({
    ...keyColumns(scope),
    request_hash: scope.requestHash.toString('base64'),
    response: Buffer.from(toBinary(PublishEventResponseSchema, withoutData(response))).toString('base64'),
  }));
  const recorded = await run(RECORD, [JSON.stringify(rows)]);
  // The lock of a key was taken while its holder's record was not yet seen.
  if (recorded.length < rows.length) throw new Error('a key was used meanwhile');
}

const keyColumns = ({ merchantId, environment, caller, method, key }: IdempotencyScope) => ({
  ...{ merchant_id: merchantId, environment, caller, method, key },
});
