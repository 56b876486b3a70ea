import type { HandlerContext } from '@connectrpc/connect';
import type {
  RemoveMemberRequest,
  RemoveMemberResponseSchema,
} from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { deleteMember, lockMember, requireOtherAdmin } from './member-store.ts';

/** Removes a member. MEMBER_NOT_FOUND, LAST_ADMIN. */
export function removeMember(writes: Writes, request: RemoveMemberRequest, context: HandlerContext) {
  return writes.runForMerchant<typeof RemoveMemberResponseSchema>(request, context, async (tx) => {
    const { accountId } = request;
    if ((await lockMember(tx, accountId)) === 'ADMIN') await requireOtherAdmin(tx, accountId);
    await deleteMember(tx, accountId);
    return {};
  });
}
