import { createHash } from 'node:crypto';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { EntityManager } from '@mikro-orm/postgresql';
import { validate as isUuid, NIL } from 'uuid';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { Database } from '../database/database.ts';
import { executeNamed } from '../database/named-sql.ts';
import { permissionDenied } from '../errors.ts';
import type { Actor, ActorSession } from '../rpc/call-context.ts';
import { type PersonRule, personRule } from '../rpc/person-rules.ts';
import { environmentName, type Tenant } from '../tenant.ts';
import { selectPerson } from './people.queries.ts';
import { isAtLeast, type RoleName } from './role.ts';
import { requireUnexpired, sessionInvalid } from './session-expiry.ts';

/** The fields of a request that decide who may make it, as far as it has them. */
interface RequestSubject {
  readonly merchantId?: string;
  readonly environment?: Environment;
  readonly accountId?: string;
}

/**
 * Checks that the people who make calls are signed in and have the role that the call requires: once before the call, and
 * again in each transaction of a write, with locks. The accounts area mirrors sessions and memberships into platform for
 * this, in its own transactions.
 */
export class PersonCheck {
  readonly #database: Database;
  readonly #idleMs: number;

  /** @param idleMs the time without a request after which a session expires. */
  constructor(database: Database, idleMs: number) {
    this.#database = database;
    this.#idleMs = idleMs;
  }

  /**
   * The person of a session, if they may make a call now. UNAUTHENTICATED (SESSION_INVALID, SESSION_EXPIRED),
   * PERMISSION_DENIED (ROLE_MISSING, SANDBOX_ONLY, OTHER_ACCOUNT).
   * @param request the request, not yet validated; undefined for a stream, whose merchant is only known in its
   *   transactions.
   */
  async verify(
    method: DescMethod,
    { token, ipAddress }: ActorSession,
    request: (Message & RequestSubject) | undefined,
  ): Promise<Actor> {
    const subject: RequestSubject = request ?? {};
    const tokenSha256 = createHash('sha256').update(token).digest();
    // The request is validated later.
    const merchantId = isUuid(subject.merchantId) ? subject.merchantId! : NIL;
    const row = await this.#database.readOne(selectPerson({ tokenSha256, merchantId }));
    if (!row) throw sessionInvalid();
    const [lastSeenAt, expiresAt] = [timestampDate(row.last_seen_at), timestampDate(row.expires_at)];
    requireUnexpired({ lastSeenAt, expiresAt }, this.#idleMs, new Date());
    const rule = ruleFor(personRule(method) ?? {}, subject, row.account_id);
    if (request) {
      if (isEnvironment(subject.environment)) requireEnvironment(rule, environmentName(subject.environment));
      requireRole(rule, row.role);
    }
    return { accountId: row.account_id, ipAddress, tokenSha256, rule };
  }

  /**
   * Checks a person again, and locks their session and membership until the transaction ends, so that a sign-out or
   * change of role either waits or is seen. Throws the errors of `verify`.
   */
  async lock(em: EntityManager, actor: Actor, { merchantId, environment }: Tenant): Promise<void> {
    const { tokenSha256, accountId, rule } = actor;
    const [session] = await executeNamed<{ last_seen_at: string; expires_at: string }>(
      em,
      // Key share: recording the session's use does not wait for its writes, but ending it does, because that deletes
      // the row.
      `select last_seen_at, expires_at from platform.session where token_sha256 = :tokenSha256 for key share`,
      { tokenSha256 },
    );
    if (!session) throw sessionInvalid();
    const [lastSeenAt, expiresAt] = [new Date(session.last_seen_at), new Date(session.expires_at)];
    requireUnexpired({ lastSeenAt, expiresAt }, this.#idleMs, new Date());
    if (rule.role === undefined) return;
    requireEnvironment(rule, environment);
    const [member] = await executeNamed<{ role: RoleName }>(
      em,
      `select role from platform.membership
        where merchant_id = :merchantId and account_id = :accountId for share`,
      { merchantId, accountId },
    );
    requireRole(rule, member?.role ?? null);
  }
}

/** The rule of a method for the account that the request names. */
function ruleFor(rule: PersonRule, { accountId }: RequestSubject, ownId: string): PersonRule {
  const isOwn = accountId?.toLowerCase() === ownId;
  if (rule.ownAccount === 'ONLY' && !isOwn) {
    throw permissionDenied('OTHER_ACCOUNT', 'people may do this only for their own account');
  }
  return rule.ownAccount === 'EXEMPT' && isOwn ? {} : rule;
}

const isEnvironment = (value: Environment | undefined) =>
  value === Environment.LIVE || value === Environment.TEST;

function requireEnvironment(rule: PersonRule, environment: Tenant['environment']): void {
  if (environment === (rule.environment ?? environment)) return;
  throw permissionDenied('SANDBOX_ONLY', 'people may do this only in the sandbox');
}

function requireRole({ role }: PersonRule, actual: RoleName | null): void {
  if (role === undefined || (actual !== null && isAtLeast(Role[actual], role))) return;
  const needed = Role[role];
  throw permissionDenied('ROLE_MISSING', `this call requires the role ${needed} at the merchant`, {
    role: needed,
  });
}
