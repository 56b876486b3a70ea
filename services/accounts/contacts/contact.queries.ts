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
