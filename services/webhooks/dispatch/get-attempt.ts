import type { Logger } from 'pino';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import type { DeliveryStatusName } from '../delivery.ts';
import { openSecret } from '../signing-secret.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { DELIVERY_BY_ID } from './delivery-by-id.sql.ts';
import type { DispatchDatabase, Statement } from './dispatch-database.ts';
import { observeFirstAttempts } from './dispatch-metrics.ts';
import type { RetryRow } from './hand-out-again.ts';
import { type LastAttempt, type RetryTurn, takeRetries } from './take-retries.ts';

/** What a worker asks about: a delivery of a batch, or of a retry workflow. */
export interface AttemptQuestion {
  readonly deliveryId: string;
  readonly batchId?: string;
  /** Makes the next attempt of a retry due. */
  readonly now: boolean;
}

/** What it is told. */
export type AttemptAnswer =
  | { readonly kind: 'SEND'; readonly row: SendableRow; readonly secrets: readonly string[] }
  | { readonly kind: 'SKIP'; readonly status: DeliveryStatusName; readonly retry: RetryRow | undefined }
  | { readonly kind: 'NOT_NOW'; readonly delayMs: number; readonly last: LastAttempt | undefined };

export interface SendableRow extends RetryRow {
  readonly event_id: string;
  readonly status: DeliveryStatusName;
  readonly batch_id: string | null;
  readonly leased_to: string | null;
  readonly attempt_count: number;
  readonly resend_id: string | null;
  readonly url: string;
  readonly generation: bigint;
  readonly body: string;
}

interface SecretRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly subscription_id: string;
  readonly key_id: number;
  readonly sealed: Buffer;
}

interface Dependencies {
  readonly db: DispatchDatabase;
  readonly recorder: AttemptRecorder;
  readonly keys: KeyRing;
  readonly logger: Logger;
}

const READ_ATTEMPTS: Statement = {
  name: 'read_attempts',
  text: `
select d.id, d.merchant_id, d.environment, d.subscription_id, d.event_id, d.status, d.batch_id, d.leased_to,
       d.attempt_count, d.resend_id, d.event_type, d.request_id, s.url, s.generation, e.body
  from unnest($1::uuid[]) as asked (id)${DELIVERY_BY_ID}
  join webhooks.subscription s
    on s.merchant_id = d.merchant_id and s.environment = d.environment and s.id = d.subscription_id
 cross join lateral (
   select body from webhooks.event
    where merchant_id = d.merchant_id and environment = d.environment and id = d.event_id limit 1
 ) e`,
};

const READ_SECRETS: Statement = {
  name: 'read_secrets',
  text: `
select s.merchant_id, s.environment, s.subscription_id, s.key_id, s.sealed
  from unnest($1::uuid[], $2::text[], $3::uuid[]) as asked (merchant_id, environment, id)
  join webhooks.signing_secret s
    on s.merchant_id = asked.merchant_id and s.environment = asked.environment and s.subscription_id = asked.id
 where s.expires_at is null or s.expires_at > now()
 order by s.expires_at desc nulls first`,
};

const WITHOUT_KEY_DELAY_MS = 60_000;
const UNKNOWN: AttemptAnswer = { kind: 'SKIP', status: 'CANCELED', retry: undefined };

/**
 * The fence. Of a batch only what waits in this batch, leased to this caller, is sent; of a retry workflow only what
 * is due, and marked as under way first. Answers are in the order of the questions.
 */
export async function getAttempt(
  deps: Dependencies,
  caller: string,
  questions: readonly AttemptQuestion[],
  requestId: string,
): Promise<AttemptAnswer[]> {
  const retries = questions.filter(({ batchId }) => !batchId);
  const turns = await takeRetries(deps, caller, retries, requestId);
  const ids = questions.map(({ deliveryId }) => deliveryId);
  const rows = await deps.db.run<SendableRow>(READ_ATTEMPTS, [ids]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const answers = questions.map(({ deliveryId, batchId }) => {
    const row = byId.get(deliveryId.toLowerCase());
    if (!row) return UNKNOWN;
    return batchId
      ? answerForBatch(row, batchId.toLowerCase(), caller)
      : answerForRetry(row, turns.get(row.id));
  });
  return withSecrets(deps, answers);
}

function answerForBatch(row: SendableRow, batchId: string, caller: string): AttemptAnswer {
  const sends = row.status === 'PENDING' && row.batch_id === batchId && row.leased_to === caller;
  if (sends) return { kind: 'SEND', row, secrets: [] };
  return { kind: 'SKIP', status: row.status, retry: row.status === 'RETRYING' ? row : undefined };
}

function answerForRetry(row: SendableRow, turn: RetryTurn | undefined): AttemptAnswer {
  // What waits in the table is carried by batches: its retry workflow is done.
  const waits = row.status === 'PENDING' || row.status === 'HELD';
  if (waits) return { kind: 'SKIP', status: 'HELD', retry: undefined };
  if (row.status !== 'RETRYING' || !turn) return { kind: 'SKIP', status: row.status, retry: undefined };
  return turn === 'SEND' ? { kind: 'SEND', row, secrets: [] } : { kind: 'NOT_NOW', ...turn };
}

/** Adds the secrets that sign, current first; a subscription whose secret cannot be opened holds up only itself. */
async function withSecrets(
  { db, keys, logger }: Dependencies,
  answers: AttemptAnswer[],
): Promise<AttemptAnswer[]> {
  const rows = answers.flatMap((answer) => (answer.kind === 'SEND' ? [answer.row] : []));
  if (rows.length === 0) return answers;
  const owners = [...new Map(rows.map((row) => [row.subscription_id, row])).values()];
  const secrets = await db.run<SecretRow>(READ_SECRETS, [
    owners.map(({ merchant_id }) => merchant_id),
    owners.map(({ environment }) => environment),
    owners.map(({ subscription_id }) => subscription_id),
  ]);
  const opened = new Map<string, string[]>();
  for (const { merchant_id: merchantId, environment, subscription_id: subscriptionId, ...row } of secrets) {
    try {
      const secret = openSecret(
        keys,
        { merchantId, environment, subscriptionId },
        { keyId: row.key_id, sealed: row.sealed },
      );
      opened.set(subscriptionId, [...(opened.get(subscriptionId) ?? []), secret]);
    } catch (error) {
      logger.error({ err: error, subscriptionId }, 'a signing secret cannot be opened');
    }
  }
  observeFirstAttempts(rows.filter(({ subscription_id }) => opened.has(subscription_id)));
  return answers.map((answer): AttemptAnswer => {
    if (answer.kind !== 'SEND') return answer;
    const own = opened.get(answer.row.subscription_id);
    return own
      ? { ...answer, secrets: own }
      : { kind: 'NOT_NOW', delayMs: WITHOUT_KEY_DELAY_MS, last: undefined };
  });
}
