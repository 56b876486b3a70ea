import { type Member, Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { accountMessage } from '../account.message.ts';
import type { MemberReadRow } from './member.queries.ts';

export function memberMessage(row: MemberReadRow): Member {
  return {
    $typeName: 'payments.accounts.v1.Member',
    account: accountMessage(row),
    role: Role[row.role],
    createdAt: row.created_at,
  };
}
