import type { HandlerContext } from '@connectrpc/connect';
import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type {
  StartSessionRequest,
  StartSessionResponse,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { executeNamed } from '../../platform/database/named-sql.ts';
import { alreadyExists, resourceExhausted } from '../../platform/errors.ts';
import { accountMessage } from '../account.message.ts';
import { recordSessionAudit } from '../audit/record-session-audit.ts';
import { endSessions } from './end-session.ts';
import { sessionMessage } from './session.message.ts';
import { selectSessionByToken } from './session.queries.ts';
import type { SessionLimits } from './session.ts';

/**
 * Starts a session, and creates its account or updates it with the identity provider's claims. SESSION_TOKEN_USED,
 * SIGN_IN_LIMIT_REACHED.
 */
export async function startSession(
  database: Database,
  { lifetimeMs, maxSignIns }: SessionLimits,
  request: StartSessionRequest,
  context: HandlerContext,
): Promise<StartSessionResponse> {
  const { tokenSha256, replacedTokenSha256, ipAddress, userAgent } = request;
  const now = new Date();
  await database.transaction(async (em) => {
    const accountId = await upsertAccount(em, request, now);
    const session = { accountId, now, expiresAt: new Date(now.getTime() + lifetimeMs) };
    await requireBelowSignInLimit(em, request, session, maxSignIns);
    if (await addSession(em, request, session)) {
      const fields = { accountId, ipAddress, request: { userAgent } };
      await recordSessionAudit(em, { accountId, request, context, fields });
    } else await requireOwnToken(em, tokenSha256, accountId);
    if (replacedTokenSha256) {
      await executeNamed(em, endSessions('token_sha256 = :replaced and token_sha256 <> :added'), {
        now,
        replaced: Buffer.from(replacedTokenSha256),
        added: Buffer.from(tokenSha256),
      });
    }
  });
  const row = await database.readOne(selectSessionByToken({ tokenSha256 }));
  return {
    $typeName: 'payments.accounts.v1.StartSessionResponse',
    account: accountMessage(row!),
    session: sessionMessage(row!),
  };
}

/** Creates or updates the account, and returns its id. */
async function upsertAccount(em: EntityManager, request: StartSessionRequest, now: Date): Promise<string> {
  const { issuer, subject, email, emailVerified, name } = request;
  const [account] = await executeNamed<{ id: string }>(
    em,
    `insert into accounts.account (id, issuer, subject, email, email_verified, name, created_at)
     values (:id, :issuer, :subject, :email, :emailVerified, :name, :now)
     on conflict (issuer, subject) do update
       set email = excluded.email, email_verified = excluded.email_verified, name = excluded.name
     returning id`,
    { id: uuidv7(), issuer, subject, email, emailVerified, name, now },
  );
  return account!.id;
}

const SIGN_IN_WINDOW_MS = 10 * 60_000;

/**
 * Counts the account's recent sessions across all gateways. The account's row is locked, so concurrent sign-ins count
 * each other.
 */
async function requireBelowSignInLimit(
  em: EntityManager,
  { tokenSha256 }: StartSessionRequest,
  { accountId, now }: NewSession,
  maxSignIns: number,
): Promise<void> {
  const [recent] = await executeNamed<{ count: number }>(
    em,
    `select count(*)::int as count from accounts.session
      where account_id = :accountId and id >= platform.first_id(:from) and token_sha256 <> :tokenSha256`,
    { accountId, from: new Date(now.getTime() - SIGN_IN_WINDOW_MS), tokenSha256: Buffer.from(tokenSha256) },
  );
  if (recent!.count < maxSignIns) return;
  const message = `the account has signed in ${maxSignIns} times within ten minutes`;
  throw resourceExhausted('SIGN_IN_LIMIT_REACHED', message);
}

interface NewSession {
  readonly accountId: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Returns false when a session with this token exists. */
async function addSession(
  em: EntityManager,
  { tokenSha256, ipAddress, userAgent }: StartSessionRequest,
  { accountId, now, expiresAt }: NewSession,
): Promise<boolean> {
  const added = await executeNamed(
    em,
    `with added as (
       insert into accounts.session
         (account_id, id, token_sha256, created_at, last_seen_at, expires_at, ip_address, user_agent)
       values (:accountId, :id, :tokenSha256, :now, :now, :expiresAt, :ipAddress, :userAgent)
       on conflict (token_sha256) do nothing
       returning id, token_sha256, account_id, last_seen_at, expires_at
     ), mirrored as (
       insert into platform.session (token_sha256, account_id, last_seen_at, expires_at)
       select token_sha256, account_id, last_seen_at, expires_at from added
     )
     select id from added`,
    { accountId, id: uuidv7(), tokenSha256: Buffer.from(tokenSha256), now, expiresAt, ipAddress, userAgent },
  );
  return added.length > 0;
}

/** A retried call finds its own session. A session of another account means that the token was used before. */
async function requireOwnToken(em: EntityManager, tokenSha256: Uint8Array, accountId: string): Promise<void> {
  const same = await executeNamed(
    em,
    'select from accounts.session where token_sha256 = :tokenSha256 and account_id = :accountId and ended_at is null',
    { tokenSha256: Buffer.from(tokenSha256), accountId },
  );
  if (same.length === 0) throw alreadyExists('SESSION_TOKEN_USED', 'another session already uses the token');
}
