import type { HandlerContext } from '@connectrpc/connect';
import type {
  RevokeInvitationRequest,
  RevokeInvitationResponseSchema,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { wrongInvitationState } from './invitation.ts';
import { findInvitation, invitationNotFound } from './invitation-store.ts';

/** Revokes an invitation, or dismisses an expired one. INVITATION_NOT_FOUND, INVITATION_STATE. */
export function revokeInvitation(writes: Writes, request: RevokeInvitationRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof RevokeInvitationResponseSchema>(request, context, async (tx) => {
    const { invitationId: id } = request;
    const now = new Date();
    const invitation = await findInvitation(tx, id, now);
    if (!invitation) throw invitationNotFound();
    if (invitation.state === 'ACCEPTED') throw wrongInvitationState(invitation.state);
    await tx.executeForMerchant(
      `update accounts.invitation set revoked_at = coalesce(revoked_at, :now)
        where merchant_id = :merchantId and id = :id`,
      { id, now },
    );
    return {};
  });
}
