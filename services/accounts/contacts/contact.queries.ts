import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { type AccountTables, db } from '../accounts.tables.ts';

/** A contact as hot reads return it. */
export type ContactReadRow = Pick<AccountTables['accounts.merchant_contact'], 'email' | 'language'>;

/** The contact that was set for a merchant. */
export const selectContact = prepareRead<Tenant, ContactReadRow>((parameters) =>
  db
    .selectFrom('accounts.merchant_contact')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .select(['email', 'language'])
    .compile(),
);

/** The verified addresses of the longest-serving administrators. */
export const selectAdminEmails = prepareRead<{ merchantId: string; limit: number }, { email: string }>(
  (parameters) =>
    db
      .selectFrom('accounts.member as m')
      .innerJoin('accounts.account as a', 'a.id', 'm.account_id')
      .where('m.merchant_id', '=', parameters('merchantId'))
      .where('m.role', '=', 'ADMIN')
      .where('a.email_verified', '=', true)
      .orderBy('m.created_at')
      .orderBy('m.account_id')
      .limit(parameters('limit'))
      .select('a.email')
      .compile(),
);
