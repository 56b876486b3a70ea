import type { HandlerContext } from '@connectrpc/connect';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { failedPrecondition, notFound, resourceExhausted } from '../../platform/errors.ts';
import type { RoleName } from '../../platform/people/role.ts';
import { actorOf } from '../../platform/rpc/call-context.ts';
import { endSessions } from '../sessions/end-session.ts';

const MAX_MEMBERS = 500;

/** The role of an account at the merchant; undefined when it is not a member. */
export async function findRole(tx: TenantTransaction, accountId: string): Promise<RoleName | undefined> {
  const [member] = await tx.executeForMerchant<{ role: RoleName }>(
    'select role from accounts.member where merchant_id = :merchantId and account_id = :accountId',
    { accountId },
  );
  return member?.role;
}

/**
 * Makes an account a member, or changes its role. The mirror in platform changes in the same transaction, which waits for
 * the writes that the person is making.
 */
export async function storeMember(
  tx: TenantTransaction,
  accountId: string,
  role: RoleName,
  now: Date,
): Promise<void> {
  await tx.executeForMerchant(
    `insert into accounts.member (merchant_id, account_id, role, created_at)
     values (:merchantId, :accountId, :role, :now)
     on conflict (merchant_id, account_id) do update set role = excluded.role`,
    { accountId, role, now },
  );
  await tx.executeForMerchant(
    `insert into platform.membership (merchant_id, account_id, role) values (:merchantId, :accountId, :role)
     on conflict (merchant_id, account_id) do update set role = excluded.role`,
    { accountId, role },
  );
}

const END_SESSIONS = endSessions(`account_id = :accountId and exists (
     select from accounts.member where merchant_id = :merchantId and account_id = :accountId)
   and token_sha256 is distinct from :acting`);

/**
 * Ends the sessions of a member whose role changes, but not the one with which they change it themselves. Call it before
 * the membership changes: writes lock the session first, too.
 */
export async function endMemberSessions(
  tx: TenantTransaction,
  accountId: string,
  now: Date,
  context: HandlerContext,
): Promise<void> {
  const acting = actorOf(context)?.tokenSha256 ?? null;
  await tx.executeForMerchant(END_SESSIONS, { accountId, now, acting });
}

/** Ends a membership, and its mirror. */
export async function deleteMember(tx: TenantTransaction, accountId: string): Promise<void> {
  await tx.executeForMerchant(
    'delete from accounts.member where merchant_id = :merchantId and account_id = :accountId',
    { accountId },
  );
  await tx.executeForMerchant(
    'delete from platform.membership where merchant_id = :merchantId and account_id = :accountId',
    { accountId },
  );
}

/** The role of a member. NOT_FOUND (MEMBER_NOT_FOUND). */
export async function requireMember(tx: TenantTransaction, accountId: string): Promise<RoleName> {
  const role = await findRole(tx, accountId);
  if (!role) throw notFound('MEMBER_NOT_FOUND', 'the member does not exist');
  return role;
}

/** Requires an administrator other than this account. FAILED_PRECONDITION (LAST_ADMIN). */
export async function requireOtherAdmin(tx: TenantTransaction, accountId: string): Promise<void> {
  const others = await tx.executeForMerchant(
    `select from accounts.member
      where merchant_id = :merchantId and role = 'ADMIN' and account_id <> :accountId limit 1`,
    { accountId },
  );
  if (others.length === 0)
    throw failedPrecondition('LAST_ADMIN', 'a merchant must keep at least one administrator');
}

/** Requires fewer members and open invitations than the limit. RESOURCE_EXHAUSTED (MEMBER_LIMIT_REACHED). */
export async function requireBelowLimit(tx: TenantTransaction, now: Date): Promise<void> {
  const [row] = await tx.executeForMerchant<{ count: number }>(
    `select ((select count(*) from accounts.member where merchant_id = :merchantId)
           + (select count(*) from accounts.invitation
               where merchant_id = :merchantId and accepted_at is null and revoked_at is null
                 and expires_at > :now))::int as count`,
    { now },
  );
  if (row!.count < MAX_MEMBERS) return;
  const limit = String(MAX_MEMBERS);
  const message = `a merchant can have at most ${limit} members and open invitations`;
  throw resourceExhausted('MEMBER_LIMIT_REACHED', message, { limit });
}
