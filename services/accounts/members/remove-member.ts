import type { HandlerContext } from '@connectrpc/connect';
import type {
  RemoveMemberRequest,
  RemoveMemberResponseSchema,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { deleteMember, endMemberSessions, requireMember, requireOtherAdmin } from './member-store.ts';

/**
 * Deletes the contacts with the verified address of an account: otherwise only the removed person would get the
 * merchant's mail.
 */
const DELETE_CONTACTS = `
delete from accounts.merchant_contact as c using accounts.account as a
 where (c.merchant_id, c.environment) in ((:merchantId, 'live'), (:merchantId, 'test'))
   and a.id = :accountId and a.email_verified and lower(c.email collate "C") = lower(a.email collate "C")`;

/** Removes a member, ends their sessions, and deletes the merchant's contact if it has their address. MEMBER_NOT_FOUND, LAST_ADMIN. */
export function removeMember(writes: Writes, request: RemoveMemberRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof RemoveMemberResponseSchema>(request, context, async (tx) => {
    const { accountId } = request;
    if ((await requireMember(tx, accountId)) === 'ADMIN') await requireOtherAdmin(tx, accountId);
    await endMemberSessions(tx, accountId, new Date(), context);
    await deleteMember(tx, accountId);
    await tx.executeForMerchant(DELETE_CONTACTS, { accountId });
    return {};
  });
}
