import type { HandlerContext } from '@connectrpc/connect';
import {
  type ChangeMemberRoleRequest,
  type ChangeMemberRoleResponseSchema,
  Role,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { timestampOf } from '../../platform/timestamps.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { memberMessage } from './member.message.ts';
import type { MemberReadRow } from './member.queries.ts';
import { endMemberSessions, requireMember, requireOtherAdmin, storeMember } from './member-store.ts';

/** A member as a statement in a transaction returns it: times are text. */
type StoredMember = Omit<MemberReadRow, 'created_at' | 'account_created_at'> & {
  readonly created_at: string;
  readonly account_created_at: string;
};

/** Changes the role of a member, and ends their sessions. MEMBER_NOT_FOUND, LAST_ADMIN. */
export function changeMemberRole(writes: Writes, request: ChangeMemberRoleRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof ChangeMemberRoleResponseSchema>(request, context, async (tx) => {
    const { accountId } = request;
    const role = enumName(Role, request.role);
    const currentRole = await requireMember(tx, accountId);
    if (currentRole === 'ADMIN' && role !== 'ADMIN') await requireOtherAdmin(tx, accountId);
    const now = new Date();
    if (role !== currentRole) await endMemberSessions(tx, accountId, now, context);
    await storeMember(tx, accountId, role, now);
    const [member] = await tx.executeForMerchant<StoredMember>(
      `select m.account_id, m.role, m.created_at,
              a.email, a.email_verified, a.name, a.created_at as account_created_at
         from accounts.member as m join accounts.account as a on a.id = m.account_id
        where m.merchant_id = :merchantId and m.account_id = :accountId`,
      { accountId },
    );
    return { member: memberMessage(withTimes(member!)) };
  });
}

const withTimes = (member: StoredMember): MemberReadRow => ({
  ...member,
  created_at: timestampOf(new Date(member.created_at)),
  account_created_at: timestampOf(new Date(member.account_created_at)),
});
