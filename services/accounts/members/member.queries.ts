import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { AccountColumns } from '../account.message.ts';
import { type AccountTables, db } from '../accounts.tables.ts';

/** A member as hot reads return it, with their account. */
export type MemberReadRow = AccountColumns & Pick<AccountTables['accounts.member'], 'role' | 'created_at'>;

/** Members are listed oldest first. */
export const memberOrder: ListOrder<MemberReadRow> = {
  columns: ['created_at', 'account_id'],
  direction: 'asc',
};

export const selectMembers = prepareRead<{ merchantId: string } & PageRange, MemberReadRow>((parameters) => {
  const query = db
    .selectFrom('accounts.member as m')
    .innerJoin('accounts.account as a', 'a.id', 'm.account_id')
    .where('m.merchant_id', '=', parameters('merchantId'))
    .select(['m.account_id', 'm.role', 'm.created_at'])
    .select(['a.email', 'a.email_verified', 'a.name', 'a.created_at as account_created_at']);
  return inOrder(query, memberOrder, parameters, 'm').compile();
});
