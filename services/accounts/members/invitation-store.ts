import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { notFound } from '../../platform/errors.ts';
import type { RoleName } from '../../platform/people/role.ts';
import { INVITATION_STATE, type InvitationState } from './invitation.ts';
import { lockMembers } from './member-store.ts';

/** The role and state of a locked invitation. */
export interface LockedInvitation {
  readonly role: RoleName;
  readonly state: InvitationState;
}

/** Locks the merchant's members and invitations, and returns one; undefined when it does not exist. */
export async function lockInvitation(
  tx: TenantTransaction,
  id: string,
  now: Date,
): Promise<LockedInvitation | undefined> {
  await lockMembers(tx);
  const [invitation] = await tx.executeForMerchant<LockedInvitation>(
    `select role, ${INVITATION_STATE} as state from accounts.invitation
      where merchant_id = :merchantId and id = :id`,
    { id, now },
  );
  return invitation;
}

/** NOT_FOUND (INVITATION_NOT_FOUND). */
export const invitationNotFound = () => notFound('INVITATION_NOT_FOUND', 'the invitation does not exist');
