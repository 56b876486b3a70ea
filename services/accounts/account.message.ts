import type { Account } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { AccountTables } from './accounts.tables.ts';

type AccountTable = AccountTables['accounts.account'];

/** The columns of an account in a join, renamed where other tables have a column of the same name. */
export interface AccountColumns extends Pick<AccountTable, 'email' | 'email_verified' | 'name'> {
  account_id: AccountTable['id'];
  account_created_at: AccountTable['created_at'];
}

export function accountMessage(row: AccountColumns): Account {
  return {
    $typeName: 'payments.accounts.v1.Account',
    id: row.account_id,
    email: row.email,
    emailVerified: row.email_verified,
    name: row.name,
    createdAt: row.account_created_at,
  };
}
