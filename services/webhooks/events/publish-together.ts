import { toBinary } from '@bufbuild/protobuf';
import {
  type PublishEventResponse,
  PublishEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { CrossTenantDatabase, Run } from '../../platform/database/cross-tenant-database.ts';
import { INSERT_EVENTS, type OutboxEvent, outboxEventRow } from '../../platform/outbox/outbox.ts';
import {
  claimUnusedKeys,
  type IdempotencyScope,
  recordResponses,
} from '../../platform/writes/idempotency-records.ts';
import { withoutData } from './published-answer.ts';

/** A valid event to publish under an idempotency key. */
export interface Publication extends OutboxEvent {
  readonly scope: IdempotencyScope;
  readonly id: string;
  /** False once the caller has stopped waiting for the answer. */
  isAwaited(): boolean;
  responseWith(sequence: bigint): PublishEventResponse;
}

/** How long the group waits for a transaction that is numbering events of the same object. */
const LOCK_TIMEOUT_MS = 100;

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
  const rows = publications.map((publication) =>
    outboxEventRow(publication.scope, publication.id, publication),
  );
  const inserted = await run<{ id: string; sequence: bigint }>(INSERT_EVENTS, { rows: JSON.stringify(rows) });
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
