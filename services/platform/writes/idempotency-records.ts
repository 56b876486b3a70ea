import { createHash, hash } from 'node:crypto';
import { type Message, toJson } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import stringify from 'safe-stable-stringify';
import type { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { tryAdvisoryLock } from '../database/advisory-lock.ts';
import { jsonRows } from '../database/json-rows.ts';
import { executeNamed } from '../database/named-sql.ts';
import { aborted, alreadyExists } from '../errors.ts';
import { callerNameOf } from '../rpc/call-context.ts';
import { rpcName } from '../rpc/rpc-name.ts';
import { type Tenant, tenantOf } from '../tenant.ts';

/** How long the response of an idempotency key is replayed, as SQL. */
export const RECORD_LIFETIME = "interval '24 hours'";

export type WriteRequest = Message & {
  merchantId: string;
  environment: Environment;
  idempotencyKey: string;
};

/** The scope of an idempotency key, and the hash of its request. */
export interface IdempotencyScope extends Tenant {
  readonly caller: string;
  readonly method: string;
  readonly key: string;
  readonly requestHash: Buffer;
}

/**
 * The scope of a write RPC's idempotency key.
 * @param body the part of the request that must not change when the key is used again, whatever the order of its
 *   members. Default: the request.
 */
export function idempotencyScope(
  request: WriteRequest,
  context: HandlerContext,
  body: object = bodyOf(request, context),
): IdempotencyScope {
  return {
    ...tenantOf(request),
    caller: callerNameOf(context),
    method: rpcName(context.method),
    key: request.idempotencyKey,
    requestHash: hash('sha256', stringify(body)!, 'buffer'),
  };
}

function bodyOf(request: WriteRequest, context: HandlerContext): object {
  const { idempotencyKey: _, ...body } = toJson(context.method.input, request) as Record<string, unknown>;
  return body;
}

/** The name of the advisory lock that a transaction holds while it uses a key. */
export function lockNameOf({ merchantId, environment, caller, method, key }: IdempotencyScope): string {
  return [merchantId, environment, caller, method, key].join('\n');
}

/** Identifies a call: its key and its request. */
export const callSha256 = (scope: IdempotencyScope) =>
  createHash('sha256').update(lockNameOf(scope)).update(scope.requestHash).digest();

const IS_CURRENT = `created_at > now() - ${RECORD_LIFETIME}`;

/**
 * Locks a key until the transaction ends; returns the recorded response if the key has been used. Throws ABORTED
 * (IDEMPOTENCY_KEY_IN_USE) while another transaction holds the key, and the errors of {@link findResponse}.
 */
export async function claimKey(em: EntityManager, scope: IdempotencyScope): Promise<Uint8Array | undefined> {
  if (!(await tryAdvisoryLock(em, lockNameOf(scope)))) throw keyInUse();
  return findResponse(em, scope);
}

/** ABORTED: another call with the idempotency key is still running. */
export const keyInUse = () =>
  aborted('IDEMPOTENCY_KEY_IN_USE', 'a request with this idempotency key is still running');

/**
 * The response recorded under a key in the last 24 hours. Throws ALREADY_EXISTS (IDEMPOTENCY_KEY_REUSED) when the key
 * was used with another request.
 */
export async function findResponse(
  em: EntityManager,
  scope: IdempotencyScope,
): Promise<Uint8Array | undefined> {
  const [row] = await executeNamed<{ request_hash: Buffer; response: Buffer }>(
    em,
    `select request_hash, response from platform.idempotency_record
      where merchant_id = :merchantId and environment = :environment and caller = :caller and method = :method
        and key = :key and ${IS_CURRENT}`,
    { ...scope },
  );
  if (!row) return undefined;
  if (!scope.requestHash.equals(row.request_hash)) {
    throw alreadyExists('IDEMPOTENCY_KEY_REUSED', 'this idempotency key was used with another request');
  }
  return row.response;
}

const INSERT = `
insert into platform.idempotency_record as recorded
  (merchant_id, environment, caller, method, key, request_hash, response)`;
/** An expired record is replaced; a current one stays, and no row is returned for it. */
const REPLACE_EXPIRED = `
on conflict (merchant_id, environment, caller, method, key)
do update set request_hash = excluded.request_hash, response = excluded.response, created_at = now()
 where not recorded.${IS_CURRENT}
returning 1`;

const RECORD_ONE = `${INSERT}
values (:merchantId, :environment, :caller, :method, :key, :requestHash, :response)
${REPLACE_EXPIRED}`;

/** Records the response to a request whose key the transaction has claimed. */
export async function recordResponse(
  em: EntityManager,
  scope: IdempotencyScope,
  response: Uint8Array,
): Promise<void> {
  const recorded = await executeNamed(em, RECORD_ONE, { ...scope, response: Buffer.from(response) });
  if (recorded.length === 0) throw usedConcurrently();
}

/** Another transaction recorded a response under a key that this one has claimed. */
const usedConcurrently = () => new Error('an idempotency key was used concurrently');

/** Returns the positions of the keys that were locked and have no current record. */
const CLAIM_MANY = `
select input.position::int
  from json_to_recordset(:rows::json) as input (
    lock_name text, merchant_id uuid, environment text, caller text, method text, key text, position int)
 cross join lateral (select pg_try_advisory_xact_lock(hashtextextended(input.lock_name, 0)) as locked offset 0) lock
  left join lateral (
    select true as found from platform.idempotency_record r
     where r.merchant_id = input.merchant_id and r.environment = input.environment and r.caller = input.caller
       and r.method = input.method and r.key = input.key and r.${IS_CURRENT}
     limit 1
  ) recorded on true
 where lock.locked and recorded.found is null`;

/**
 * Locks many keys until the transaction ends, with one statement. Returns the indexes of the unused ones; the others have
 * a record or are held by another transaction. Each key may occur only once.
 */
export async function claimUnusedKeys(
  em: EntityManager,
  scopes: readonly IdempotencyScope[],
): Promise<number[]> {
  const keys = scopes.map((scope, position) => {
    const { requestHash: _, ...key } = scope;
    return { ...key, lockName: lockNameOf(scope), position };
  });
  const claimed = await executeNamed<{ position: number }>(em, CLAIM_MANY, { rows: jsonRows(keys) });
  return claimed.map(({ position }) => position);
}

const RECORD_MANY = `${INSERT}
select merchant_id, environment, caller, method, key, decode(request_hash, 'base64'), decode(response, 'base64')
  from json_to_recordset(:rows::json) as a (
    merchant_id uuid, environment text, caller text, method text, key text, request_hash text, response text)
${REPLACE_EXPIRED}`;

/**
 * Records the responses to many requests with one statement. Throws when a key has been used concurrently: it was locked
 * before the record of its previous holder became visible.
 */
export async function recordResponses(
  em: EntityManager,
  responses: readonly { readonly scope: IdempotencyScope; readonly response: Uint8Array }[],
): Promise<void> {
  if (responses.length === 0) return;
  const rows = responses.map(({ scope, response }) => ({
    ...scope,
    requestHash: scope.requestHash.toString('base64'),
    response: Buffer.from(response).toString('base64'),
  }));
  const recorded = await executeNamed(em, RECORD_MANY, { rows: jsonRows(rows) });
  if (recorded.length < rows.length) throw usedConcurrently();
}
