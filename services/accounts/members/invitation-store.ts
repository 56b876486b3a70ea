import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { notFound } from '../../platform/errors.ts';
import type { RoleName } from '../../platform/people/role.ts';
import { INVITATION_STATE, type InvitationState } from './invitation.ts';

interface StoredInvitation {
  readonly role: RoleName;
  readonly state: InvitationState;
}

/** The role and state of an invitation; undefined when it does not exist. */
export async function findInvitation(
  tx: TenantTransaction,
  id: string,
  now: Date,
): Promise<StoredInvitation | undefined> {
  const [invitation] = await tx.executeForMerchant<StoredInvitation>(
    `select role, ${INVITATION_STATE} as state from accounts.invitation
      where merchant_id = :merchantId and id = :id`,
    { id, now },
  );
  return invitation;
}

/** NOT_FOUND (INVITATION_NOT_FOUND). */
export const invitationNotFound = () => notFound('INVITATION_NOT_FOUND', 'the invitation does not exist');
