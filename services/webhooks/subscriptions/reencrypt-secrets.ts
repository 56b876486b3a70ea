import type { Client } from 'pg';
import { NIL } from 'uuid';
import { bindNamed } from '../../platform/database/named-sql.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { openSecret, sealSecret } from './signing-secret.ts';

/** What came of a run. */
export interface Reencryption {
  /** Secrets that this run sealed with the key that writes. */
  readonly resealed: number;
  /** Subscriptions with a secret that could not be opened, and that stays as it was. */
  readonly unopened: readonly string[];
  /** Secrets that are still sealed with another key: those unopened, those of a run that was stopped, new ones. */
  readonly left: number;
}

interface Options {
  readonly batchSize?: number;
  /** Stops the run between two batches. */
  readonly signal?: AbortSignal;
  /** Told after each batch how many were resealed by then. */
  readonly onBatch?: (resealed: number) => void;
}

interface SecretRow {
  readonly merchant_id: string;
  readonly environment: EnvironmentName;
  readonly id: string;
  readonly subscription_id: string;
  readonly key_id: number;
  readonly sealed: Buffer;
}

const BATCH_SIZE = 200;

/** Runs at the same time take turns, and a row is passed over by none. */
const TAKE_TURN = `select pg_advisory_xact_lock(hashtextextended('reencrypt signing secrets', 0))`;

const LOCK_BATCH = `
select merchant_id, environment, id, subscription_id, key_id, sealed
  from webhooks.signing_secret
 where key_id <> :keyId and (merchant_id, environment, id) > (:merchantId, :environment, :id)
 order by merchant_id, environment, id
 limit :limit for update`;

const STORE_BATCH = `
update webhooks.signing_secret s
   set key_id = :keyId, sealed = resealed.sealed
  from unnest(:merchantIds::uuid[], :environments::text[], :ids::uuid[], :sealed::bytea[]) as resealed (merchant_id, environment, id, sealed)
 where (s.merchant_id, s.environment, s.id) = (resealed.merchant_id, resealed.environment, resealed.id)`;

const COUNT_LEFT = 'select count(*)::int as left from webhooks.signing_secret where key_id <> :keyId';

/** The primary key of the last secret of a batch. */
interface SecretPosition {
  readonly merchantId: string;
  readonly environment: string;
  readonly id: string;
}

/**
 * Seals every signing secret of all merchants with the key that writes, a batch per transaction. It can be stopped at
 * any moment and run again, beside services that deliver, reveal and rotate: a row is locked while it is resealed.
 */
export async function reencryptSecrets(
  client: Client,
  keys: KeyRing,
  { batchSize = BATCH_SIZE, signal, onBatch }: Options = {},
): Promise<Reencryption> {
  const unopened: string[] = [];
  let resealed = 0;
  let position: SecretPosition | undefined = { merchantId: NIL, environment: '', id: NIL };
  while (position && !signal?.aborted) {
    const batch = await inTransaction(client, () => resealBatch(client, keys, position!, batchSize));
    resealed += batch.resealed;
    unopened.push(...batch.unopened);
    position = batch.last;
    if (position) onBatch?.(resealed);
  }
  return { resealed, unopened, left: await countSealedWithOldKeys(client, keys) };
}

/** How many secrets are sealed with another key than the one that writes. */
export async function countSealedWithOldKeys(client: Client, keys: KeyRing): Promise<number> {
  const { rows } = await client.query<{ left: number }>(bindNamed(COUNT_LEFT, { keyId: keys.current.id }));
  return rows[0]!.left;
}

async function resealBatch(client: Client, keys: KeyRing, after: SecretPosition, batchSize: number) {
  await client.query(TAKE_TURN);
  const keyId = keys.current.id;
  const batch = bindNamed(LOCK_BATCH, { keyId, ...after, limit: batchSize });
  const { rows } = await client.query<SecretRow>(batch);
  const outcomes = rows.map((row) => ({ row, sealed: reseal(keys, row) }));
  const opened = outcomes.flatMap(({ row, sealed }) => (sealed ? [{ ...row, sealed }] : []));
  await client.query(
    bindNamed(STORE_BATCH, {
      keyId,
      merchantIds: opened.map(({ merchant_id }) => merchant_id),
      environments: opened.map(({ environment }) => environment),
      ids: opened.map(({ id }) => id),
      sealed: opened.map(({ sealed }) => sealed),
    }),
  );
  const last = rows.at(-1);
  return {
    resealed: opened.length,
    unopened: outcomes.flatMap(({ row, sealed }) => (sealed ? [] : [row.subscription_id])),
    last: last && { merchantId: last.merchant_id, environment: last.environment, id: last.id },
  };
}

/** The secret under the key that writes; undefined when it cannot be opened, so that it holds up no other. */
function reseal(keys: KeyRing, row: SecretRow): Uint8Array | undefined {
  const {
    merchant_id: merchantId,
    environment,
    subscription_id: subscriptionId,
    key_id: keyId,
    sealed,
  } = row;
  const owner = { merchantId, environment, subscriptionId };
  try {
    return sealSecret(keys, owner, openSecret(keys, owner, { keyId, sealed })).sealed;
  } catch {
    return undefined;
  }
}

async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    const answer = await work();
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
