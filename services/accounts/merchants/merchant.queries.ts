import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { db } from '../accounts.tables.ts';

/** The name of a merchant; no row when none is set. */
export const selectMerchantName = prepareRead<{ merchantId: string }, { name: string }>((parameters) =>
  db
    .selectFrom('accounts.merchant')
    .where('merchant_id', '=', parameters('merchantId'))
    .select('name')
    .compile(),
);
