import type { HandlerContext } from '@connectrpc/connect';
import {
  type AcceptInvitationRequest,
  type AcceptInvitationResponseSchema,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { isAtLeast } from '../../platform/people/role.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { normalizedEmail } from '../email-address.ts';
import { wrongInvitationState } from './invitation.ts';
import { findInvitation, invitationNotFound } from './invitation-store.ts';
import { findRole, storeMember } from './member-store.ts';

/**
 * Makes the account a member if its verified address is the invited one. An account that is already a member keeps the
 * higher of the two roles. INVITATION_NOT_FOUND, INVITATION_STATE.
 */
export function acceptInvitation(writes: Writes, request: AcceptInvitationRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof AcceptInvitationResponseSchema>(request, context, async (tx) => {
    const { invitationId: id, accountId } = request;
    const now = new Date();
    const invitation = await findInvitation(tx, id, now);
    if (!invitation || !(await isForAccount(tx, id, accountId))) throw invitationNotFound();
    if (invitation.state !== 'OPEN') throw wrongInvitationState(invitation.state);
    await tx.executeForMerchant(
      'update accounts.invitation set accepted_at = :now where merchant_id = :merchantId and id = :id',
      { id, now },
    );
    const currentRole = await findRole(tx, accountId);
    const keepsRole = currentRole && isAtLeast(Role[currentRole], Role[invitation.role]);
    const role = keepsRole ? currentRole : invitation.role;
    await storeMember(tx, accountId, role, now);
    const [merchant] = await tx.executeForMerchant<{ name: string }>(
      'select name from accounts.merchant where merchant_id = :merchantId',
    );
    const { merchantId } = tx.tenant;
    return { membership: { merchantId, role: Role[role], merchantName: merchant?.name ?? '' } };
  });
}

/** Whether the account's identity provider has verified that the invited address is theirs. */
async function isForAccount(tx: TenantTransaction, id: string, accountId: string): Promise<boolean> {
  const [found] = await tx.executeForMerchant<{ invited: string; email: string }>(
    `select i.email as invited, a.email
       from accounts.invitation as i join accounts.account as a on a.id = :accountId and a.email_verified
      where i.merchant_id = :merchantId and i.id = :id`,
    { id, accountId },
  );
  return found !== undefined && normalizedEmail(found.email) === found.invited;
}
