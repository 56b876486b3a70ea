import type { HandlerContext } from '@connectrpc/connect';
import { v7 as uuidv7 } from 'uuid';
import {
  type InviteMemberRequest,
  type InviteMemberResponseSchema,
  Language,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import * as notifyContact from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { enumName } from '../../platform/enum-name.ts';
import { alreadyExists, resourceExhausted } from '../../platform/errors.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { normalizedEmail } from '../email-address.ts';
import { INVITATION_LIFETIME_MS } from './invitation.ts';
import { requireBelowLimit } from './member-store.ts';

/** Invitations send mail to strangers, so their number within 24 hours is limited: per merchant, and per address. */
const MAX_A_DAY = 1_000;
const MAX_A_DAY_TO_ADDRESS = 10;

/**
 * Invites an address and sends it a mail. Revokes an open invitation to the same address. MEMBER_ALREADY_EXISTS,
 * MEMBER_LIMIT_REACHED, INVITATION_LIMIT_REACHED.
 */
export function inviteMember(writes: Writes, request: InviteMemberRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof InviteMemberResponseSchema>(request, context, async (tx) => {
    const { role } = request;
    const email = normalizedEmail(request.email);
    await requireNoMember(tx, email);
    const now = new Date();
    await requireBelowInvitationLimit(tx, email, now);
    await tx.executeForMerchant(
      `update accounts.invitation set revoked_at = :now
        where merchant_id = :merchantId and email = :email and accepted_at is null and revoked_at is null`,
      { email, now },
    );
    await requireBelowLimit(tx, now);
    const id = uuidv7();
    const expiresAt = new Date(now.getTime() + INVITATION_LIFETIME_MS);
    const [added] = await tx.executeForMerchant<{ merchant_name: string | null }>(
      `insert into accounts.invitation (merchant_id, id, email, role, created_at, expires_at)
       values (:merchantId, :id, :email, :role, :now, :expiresAt)
       returning (select name from accounts.merchant where merchant_id = :merchantId) as merchant_name`,
      { id, email, role: enumName(Role, role), now, expiresAt },
    );
    const language = enumName(Language, request.language || undefined);
    await tx.command(
      notifyContact.startCommand({ ...tx.tenant, kind: 'INVITATION', subjectId: id, language }),
    );
    const { merchantId } = tx.tenant;
    const times = { createdAt: timestampOf(now), expiresAt: timestampOf(expiresAt) };
    return {
      invitation: { id, merchantId, email, role, ...times, merchantName: added!.merchant_name ?? '' },
    };
  });
}

/** Only verified addresses count, so that an unverified one cannot keep out its real owner. */
async function requireNoMember(tx: TenantTransaction, email: string): Promise<void> {
  const members = await tx.executeForMerchant(
    `select from accounts.member as m join accounts.account as a on a.id = m.account_id
      where m.merchant_id = :merchantId and a.email_verified and lower(a.email collate "C") = :email limit 1`,
    { email },
  );
  if (members.length > 0)
    throw alreadyExists('MEMBER_ALREADY_EXISTS', 'a member already has this email address');
}

/** RESOURCE_EXHAUSTED (INVITATION_LIMIT_REACHED). Revoked invitations count, too. */
async function requireBelowInvitationLimit(tx: TenantTransaction, email: string, now: Date): Promise<void> {
  const [row] = await tx.executeForMerchant<{ sent: number; to_address: number }>(
    `select count(*)::int as sent, (count(*) filter (where email = :email))::int as to_address
       from accounts.invitation
      where merchant_id = :merchantId and created_at > :now::timestamptz - interval '1 day'`,
    { email, now },
  );
  if (row!.sent < MAX_A_DAY && row!.to_address < MAX_A_DAY_TO_ADDRESS) return;
  const message = `a merchant can send ${MAX_A_DAY} invitations a day, ${MAX_A_DAY_TO_ADDRESS} of them to one address`;
  throw resourceExhausted('INVITATION_LIMIT_REACHED', message, {
    limit: String(row!.sent < MAX_A_DAY ? MAX_A_DAY_TO_ADDRESS : MAX_A_DAY),
  });
}
