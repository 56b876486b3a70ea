import { type Message, toJson } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { executeNamed } from '../database/named-sql.ts';
import { actorOf, requestIdOf } from '../rpc/call-context.ts';
import type { Tenant } from '../tenant.ts';
import { RECORD_LIFETIME } from './record-lifetime.ts';

/** Enough for any text a person can enter: reasons of 2000 characters take at most six bytes each in JSON. */
const MAX_REQUEST_BYTES = 16 * 1024;

/**
 * Records, in the transaction of a change, the person who made it, their IP address and their request. Changes that
 * systems make for themselves are not recorded.
 * @param identify returns a hash that identifies the call, for calls with several transactions: only the first records an
 * entry. The caller must hold a lock on the call. Without it, every transaction records one.
 */
export async function recordAudit(
  em: EntityManager,
  { merchantId, environment }: Tenant,
  request: Message,
  context: HandlerContext,
  identify?: () => Buffer,
): Promise<void> {
  const actor = actorOf(context);
  if (!actor) return;
  const callSha256 = identify?.() ?? null;
  await executeNamed(
    em,
    `insert into platform.audit_entry
       (merchant_id, environment, id, account_id, action, request, ip_address, request_id, occurred_at, call_sha256)
     select :merchantId, :environment, :id, :accountId, :action, :request::jsonb, :ipAddress, :requestId, now(),
            :callSha256
      where not exists (
        select from platform.audit_entry
         where merchant_id = :merchantId and environment = :environment and call_sha256 = :callSha256
           and occurred_at > now() - ${RECORD_LIFETIME})`,
    {
      merchantId,
      environment,
      id: uuidv7(),
      accountId: actor.accountId,
      action: `${context.service.typeName}.${context.method.name}`,
      request: requestJson(context, request),
      ipAddress: actor.ipAddress,
      requestId: requestIdOf(context),
      callSha256,
    },
  );
}

/** The request as JSON without its tenant and key; null when too large to store. */
function requestJson({ method }: HandlerContext, request: Message): string | null {
  const { merchantId, environment, idempotencyKey, ...fields } = toJson(method.input, request) as Record<
    string,
    unknown
  >;
  const json = JSON.stringify(fields);
  return Buffer.byteLength(json) <= MAX_REQUEST_BYTES ? json : null;
}
