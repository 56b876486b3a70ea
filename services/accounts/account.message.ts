import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Account } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';

/** An account as reads answer it, with names that other tables' columns leave free. */
export interface AccountColumns {
  account_id: string;
  email: string;
  email_verified: boolean;
  name: string;
  account_created_at: Timestamp;
}

/** A read row as the wire's record. */
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
