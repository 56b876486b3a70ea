import type { Logger } from 'pino';
import type { CrossTenantDatabase } from '../../platform/database/cross-tenant-database.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { DeliveryStatusName } from '../deliveries/delivery.ts';
import { openSecret } from '../subscriptions/signing-secret.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { claimRetries, type LastAttempt, type RetryDecision } from './claim-retries.ts';
import { observeFirstAttempts } from './dispatch-metrics.ts';
import { type EndedRow, type OpenRow, READ_ENDED, READ_OPEN } from './get-attempt.sql.ts';
import type { RetryRow } from './requeue-expired.ts';

/** A delivery of a batch, or of a retry workflow, that a worker asks about. */
export interface AttemptRequest {
  readonly deliveryId: string;
  readonly batchId?: string;
  /** Makes the next attempt of a retry due. */
  readonly now: boolean;
}

/** What the worker must do. */
export type AttemptAnswer =
  | { readonly kind: 'SEND'; readonly row: OpenRow; readonly secrets: readonly string[] }
  | { readonly kind: 'SKIP'; readonly status: DeliveryStatusName; readonly retry: RetryRow | undefined }
  | { readonly kind: 'NOT_NOW'; readonly delayMs: number; readonly last: LastAttempt | undefined };

interface Dependencies {
  readonly db: CrossTenantDatabase;
  readonly recorder: AttemptRecorder;
  readonly keys: KeyRing;
  readonly logger: Logger;
}

const WITHOUT_KEY_DELAY_MS = 60_000;

/**
 * The fence. A delivery of a batch is sent only while it waits in this batch, leased to this caller; a retry only when it
 * is due, and it is marked as in flight first. Answers are in the order of the requests.
 */
export async function getAttempt(
  deps: Dependencies,
  caller: string,
  requests: readonly AttemptRequest[],
  requestId: string,
): Promise<AttemptAnswer[]> {
  const retries = requests.filter(({ batchId }) => !batchId);
  const decisions = await claimRetries(deps, caller, retries, requestId);
  const ids = requests.map(({ deliveryId }) => deliveryId);
  const open = await deps.db.run<OpenRow>(READ_OPEN, { ids });
  const openById = new Map(open.map((row) => [row.id, row]));
  const gone = ids.filter((id) => !openById.has(id.toLowerCase()));
  const ended = gone.length > 0 ? await deps.db.run<EndedRow>(READ_ENDED, { ids: gone }) : [];
  const endedById = new Map(ended.map(({ id, status }) => [id, status]));
  const answers = requests.map(({ deliveryId, batchId }): AttemptAnswer => {
    const row = openById.get(deliveryId.toLowerCase());
    const status = endedById.get(deliveryId.toLowerCase()) ?? 'CANCELED';
    if (!row) return { kind: 'SKIP', status, retry: undefined };
    return batchId
      ? answerForBatch(row, batchId.toLowerCase(), caller)
      : answerForRetry(row, decisions.get(row.id));
  });
  return withSecrets(deps, answers);
}

function answerForBatch(row: OpenRow, batchId: string, caller: string): AttemptAnswer {
  const sends = row.status === 'PENDING' && row.batch_id === batchId && row.leased_to === caller;
  if (sends) return { kind: 'SEND', row, secrets: [] };
  return { kind: 'SKIP', status: row.status, retry: row.status === 'RETRYING' ? row : undefined };
}

function answerForRetry(row: OpenRow, decision: RetryDecision | undefined): AttemptAnswer {
  // A delivery in this status continues in a batch: its retry workflow is done.
  const waits = row.status === 'PENDING' || row.status === 'HELD';
  if (waits) return { kind: 'SKIP', status: 'HELD', retry: undefined };
  if (row.status !== 'RETRYING' || !decision) return { kind: 'SKIP', status: row.status, retry: undefined };
  return decision === 'SEND' ? { kind: 'SEND', row, secrets: [] } : { kind: 'NOT_NOW', ...decision };
}

/** Adds the signing secrets, current first. If a secret cannot be decrypted, only its own subscription is affected. */
function withSecrets(deps: Dependencies, answers: readonly AttemptAnswer[]): AttemptAnswer[] {
  const opened = new Map<string, readonly string[]>();
  const rows = answers.flatMap((answer) => (answer.kind === 'SEND' ? [answer.row] : []));
  for (const row of rows) {
    const { subscription_id: id } = row;
    if (!opened.has(id)) opened.set(id, openSecrets(deps, row));
  }
  const canSign = ({ subscription_id: id }: OpenRow) => (opened.get(id)?.length ?? 0) > 0;
  observeFirstAttempts(rows.filter(canSign));
  return answers.map((answer) => {
    if (answer.kind !== 'SEND') return answer;
    const { row } = answer;
    if (!canSign(row)) return { kind: 'NOT_NOW', delayMs: WITHOUT_KEY_DELAY_MS, last: undefined };
    return { ...answer, secrets: opened.get(row.subscription_id)! };
  });
}

function openSecrets({ keys, logger }: Dependencies, row: OpenRow): string[] {
  const { merchant_id: merchantId, environment, subscription_id: subscriptionId } = row;
  return row.secrets.flatMap(({ key_id: keyId, sealed }) => {
    try {
      const secret = { keyId, sealed: Buffer.from(sealed, 'base64') };
      return [openSecret(keys, { merchantId, environment, subscriptionId }, secret)];
    } catch (error) {
      logger.error({ err: error, subscriptionId }, 'a signing secret cannot be opened');
      return [];
    }
  });
}
