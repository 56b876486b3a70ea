import { sql } from 'kysely';
import type { CivilDate } from '../platform/civil-date.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import type { EnvironmentName } from '../platform/tenant.ts';
import type { AccountEntity, ReleaseEntity, ReservationEntity } from './funds.entity.ts';

type AccountTable = ReadTable<typeof AccountEntity>;
type ReservationReadRow = ReadTable<typeof ReservationEntity>;

const db = queryBuilder<{
  'funds.account': AccountTable;
  'funds.release': ReadTable<typeof ReleaseEntity>;
  'funds.reservation': ReservationReadRow;
}>();

/** The key of an account. */
type AccountReadRow = Pick<AccountTable, 'merchant_id' | 'environment'>;

/** Where to continue in the order of the accounts; from the first account without a position. */
export interface AccountPage {
  readonly afterMerchantId: string | undefined;
  readonly afterEnvironment: EnvironmentName | undefined;
  readonly limit: number;
}

/**
 * A condition on a row `release` of funds.release: whether the daily release can release any of it. Reserved
 * installments wait for their advance.
 */
export const IS_RELEASABLE = `
release.status = 'SCHEDULED' and exists (
  select from funds.installment as installment
   where installment.merchant_id = release.merchant_id and installment.environment = release.environment
     and installment.date = release.date and installment.status = 'SCHEDULED' and installment.reserved_for is null)`;

/** Accounts with something to release up to a date, across merchants, for the daily release. */
export const selectDueAccounts = prepareRead<AccountPage & { readonly upTo: CivilDate }, AccountReadRow>(
  (parameters) => {
    let due = db
      .selectFrom('funds.release as release')
      .where(sql<boolean>`${sql.raw(IS_RELEASABLE)}`)
      .where('release.date', '<=', parameters('upTo'));
    if (parameters.has('afterMerchantId')) due = due.where(isAfter(parameters));
    return due
      .select(['release.merchant_id', 'release.environment'])
      .distinct()
      .orderBy('release.merchant_id')
      .orderBy('release.environment')
      .limit(parameters('limit'))
      .compile();
  },
);

/** Accounts in the order of their keys, across merchants, for the verification of all funds. */
export const selectAccounts = prepareRead<AccountPage, AccountReadRow>((parameters) => {
  let query = db.selectFrom('funds.account').select(['merchant_id', 'environment']);
  if (parameters.has('afterMerchantId')) query = query.where(isAfter(parameters));
  return query.orderBy('merchant_id').orderBy('environment').limit(parameters('limit')).compile();
});

function isAfter(parameters: ReadParameters<AccountPage>) {
  const position = sql`(${parameters('afterMerchantId')}, ${parameters('afterEnvironment')})`;
  return sql<boolean>`(merchant_id, environment) > ${position}`;
}

/** Which reservations: of one account, or, without merchant and environment, of all accounts. */
interface DueReservationFilter {
  readonly merchantId: string | undefined;
  readonly environment: EnvironmentName | undefined;
  readonly upTo: CivilDate;
  readonly limit: number;
}

/** A reservation that holds an installment whose date has come. */
export type DueReservationReadRow = Pick<
  ReservationReadRow,
  'merchant_id' | 'environment' | 'advance_request_id'
>;

/**
 * Reservations with an installment due by a date, latest first, so that old ones that cannot be freed do not crowd out
 * newer ones.
 */
export const selectDueReservations = prepareRead<DueReservationFilter, DueReservationReadRow>(
  (parameters) => {
    let query = db
      .selectFrom('funds.reservation')
      .where('state', '=', sql.lit('HELD'))
      .where('first_date', '<=', parameters('upTo'))
      .select(['merchant_id', 'environment', 'advance_request_id']);
    if (parameters.has('merchantId')) {
      query = query
        .where('merchant_id', '=', parameters('merchantId'))
        .where('environment', '=', parameters('environment'));
    }
    return query
      .orderBy('first_date', 'desc')
      .orderBy('advance_request_id')
      .limit(parameters('limit'))
      .compile();
  },
);
