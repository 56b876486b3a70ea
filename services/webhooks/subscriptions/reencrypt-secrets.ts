import type { Client } from 'pg';
import { NIL } from 'uuid';
import { inTransaction } from '../../platform/database/in-transaction.ts';
import { bindNamed } from '../../platform/database/named-sql.ts';
import type { KeyRing } from '../../platform/key-ring.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';
import { openSecret, sealSecret } from './signing-secret.ts';

/** The result of a run. */
export interface Reencryption {
  /** Number of secrets that this run sealed with the current key. */
  readonly resealed: number;
  /** Ids of subscriptions with a secret that could not be decrypted and was left unchanged. */
  readonly unopened: readonly string[];
  /** Number of secrets still sealed with another key: undecryptable ones, new ones, and those after an early stop. */
  readonly left: number;
}

interface Options {
  readonly batchSize?: number;
  /** Stops the run after the current batch. */
  readonly signal?: AbortSignal;
  /** Called after each batch with the number of secrets resealed so far. */
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

/** Concurrent runs take turns, so that none skips a row that another has locked. */
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
 * Seals the signing secrets of all merchants with the current key, a batch per transaction. It can be stopped at any time
 * and run again, while services deliver, reveal and rotate: each row is locked while it is resealed.
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
    const batch = await inTransaction(client, 'begin', () => resealBatch(client, keys, position!, batchSize));
    resealed += batch.resealed;
    unopened.push(...batch.unopened);
    position = batch.last;
    if (position) onBatch?.(resealed);
  }
  return { resealed, unopened, left: await countSealedWithOldKeys(client, keys) };
}

/** The number of secrets that are not sealed with the current key. */
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

/** The secret sealed with the current key; undefined if it cannot be decrypted, so that the run continues with the others. */
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
