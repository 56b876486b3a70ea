import { type Message, toJson } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { jsonRows } from '../database/json-rows.ts';
import { executeNamed } from '../database/named-sql.ts';
import { starterOf } from '../outbox/outbox-commands.ts';
import { actorOf, originOf, requestIdOf } from '../rpc/call-context.ts';
import { rpcName } from '../rpc/rpc-name.ts';
import type { Tenant } from '../tenant.ts';
import { RECORD_LIFETIME } from './idempotency-records.ts';

/** Enough for the longest text that a person can enter: 5,000 characters, of at most six bytes each in JSON. */
const MAX_REQUEST_BYTES = 32 * 1024;

/** An entry of the audit trail, as a row for {@link recordAudit}. */
export interface AuditRow extends Tenant {
  readonly id: string;
  readonly caller: string;
  readonly accountId: string | undefined;
  /** The workflow that makes the call: who started it is looked up. */
  readonly workflowId: string | undefined;
  readonly action: string;
  readonly request: object | null;
  readonly ipAddress: string;
  readonly requestId: string;
  /** In base64. */
  readonly callSha256: string | undefined;
}

/**
 * The entry of a call.
 * @param callSha256 identifies a call with several transactions: only the first records an entry. The caller must hold a
 * lock on the call. Without it, every transaction records one.
 */
export function auditRow(
  { merchantId, environment }: Tenant,
  request: Message,
  context: HandlerContext,
  callSha256?: Buffer,
): AuditRow {
  const { caller = '', accountId, workflowId } = originOf(context);
  return {
    merchantId,
    environment,
    id: uuidv7(),
    caller,
    accountId,
    workflowId,
    action: rpcName(context.method),
    request: auditedRequest(context, request),
    ipAddress: actorOf(context)?.ipAddress ?? '',
    requestId: requestIdOf(context),
    callSha256: callSha256?.toString('base64'),
  };
}

/** Takes `:rows` as one JSON array. */
const INSERT = `
insert into platform.audit_entry
  (merchant_id, environment, id, caller, account_id, started_by, action, request, ip_address, request_id, occurred_at,
   call_sha256)
select a.merchant_id, a.environment, a.id, a.caller, coalesce(a.account_id, start.account_id), start.started_by,
       a.action, a.request, a.ip_address, a.request_id, now(), decode(a.call_sha256, 'base64')
  from json_to_recordset(:rows::json) as a (
    merchant_id uuid, environment text, id uuid, caller text, account_id uuid, workflow_id text, action text,
    request jsonb, ip_address text, request_id text, call_sha256 text)
  ${starterOf('a.workflow_id', 'a.merchant_id', 'a.environment')}`;

/** Records entries of calls with several transactions. A separate statement, because it is planned for every partition. */
const RECORD_AUDIT_ONCE = `${INSERT}
 where not exists (
   select from platform.audit_entry e
    where e.merchant_id = a.merchant_id and e.environment = a.environment
      and e.call_sha256 = decode(a.call_sha256, 'base64')
      and e.id > platform.first_id(now() - ${RECORD_LIFETIME}))`;

/** Records entries in the transaction of their calls. */
export async function recordAudit(em: EntityManager, rows: readonly AuditRow[]): Promise<void> {
  if (rows.length === 0) return;
  await executeNamed(em, INSERT, { rows: jsonRows(rows) });
}

/** Records the entry of a call that has a `callSha256`, unless an earlier transaction of the call has. */
export async function recordAuditOnce(em: EntityManager, row: AuditRow): Promise<void> {
  await executeNamed(em, RECORD_AUDIT_ONCE, { rows: jsonRows([row]) });
}

/** The request as JSON without its tenant and key; null when too large to store. */
export function auditedRequest(context: HandlerContext, request: Message): object | null {
  const { merchantId, environment, idempotencyKey, ...fields } = toJson(
    context.method.input,
    request,
  ) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(fields)) <= MAX_REQUEST_BYTES ? fields : null;
}
