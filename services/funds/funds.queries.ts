import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import type { CivilDate } from '../platform/civil-date.ts';
import { queryBuilder } from '../platform/database/database.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import type { EnvironmentName, Tenant } from '../platform/tenant.ts';
import type {
  AccountEntity,
  DeductionEntity,
  InstallmentEntity,
  ReleaseEntity,
  ReservationEntity,
} from './funds.entity.ts';
import type { ReleaseStatus } from './installment.ts';

interface FundsTables {
  'funds.account': InferKyselyTable<typeof AccountEntity>;
  'funds.deduction': InferKyselyTable<typeof DeductionEntity>;
  'funds.installment': InferKyselyTable<typeof InstallmentEntity>;
  'funds.release': InferKyselyTable<typeof ReleaseEntity>;
  'funds.reservation': InferKyselyTable<typeof ReservationEntity>;
}

/** A release row as the list answers it; amounts in centavos. */
export interface ReleaseReadRow {
  date: string;
  status: ReleaseStatus;
  gross_minor: bigint;
  fees_minor: bigint;
  deducted_minor: bigint;
  advanced_minor: bigint;
  remaining_minor: bigint;
  sales_count: number;
  held_by_dispute: number;
  held_by_refund: number;
  held_by_kyc: number;
  held_by_compliance: number;
}

/** A day of the calendar: the sums of its rows. */
export interface CalendarReadRow {
  date: string;
  released_minor: bigint;
  scheduled_minor: bigint;
  blocked_minor: bigint;
  advanced_minor: bigint;
  deducted_minor: bigint;
  sales_count: number;
  has_blocked: boolean;
}

/** Sums of an account, in centavos, as text: all days together may exceed 64 bits. */
export interface BalanceReadRow {
  released_minor: string;
  scheduled_minor: string;
  blocked_minor: string;
  open_debts_minor: string;
}

/** An installment that an advance can cover, or no installment at all, and the version of the account's schedule. */
export interface AdvanceableReadRow {
  schedule_id: string;
  id: string | null;
  version: bigint;
  date: string;
  remaining_minor: bigint;
}

/** An account that has something to release. */
export interface DueAccountReadRow {
  merchant_id: string;
  environment: EnvironmentName;
}

export interface DueReservationReadRow extends DueAccountReadRow {
  advance_request_id: string;
}

const db = queryBuilder<FundsTables>();

function releases(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.release')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

const leftOf = (status: ReleaseStatus) =>
  sql`coalesce(sum(remaining_minor) filter (where status = ${sql.lit(status)}), 0)`;
const leftOfDay = (status: ReleaseStatus) => sql<bigint>`${leftOf(status)}::bigint`;
const leftOfAll = (status: ReleaseStatus) => sql<string>`${leftOf(status)}::text`;

/** Which releases to list; dates inclusive. */
export interface ReleaseFilter {
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
  readonly status: ReleaseStatus | undefined;
}

/** Release rows are listed from the first date. */
export const releaseOrder: ListOrder<ReleaseReadRow> = { columns: ['date', 'status'], direction: 'asc' };

/** A page of release rows in their order. */
export const selectReleases = prepareRead<Tenant & ReleaseFilter & PageRange, ReleaseReadRow>(
  (parameters) => {
    let query = releases(parameters)
      .select([
        'date',
        'status',
        'gross_minor',
        'fees_minor',
        'deducted_minor',
        'advanced_minor',
        'remaining_minor',
      ])
      .select(['sales_count', 'held_by_dispute', 'held_by_refund', 'held_by_kyc', 'held_by_compliance']);
    if (parameters.has('from')) query = query.where('date', '>=', parameters('from'));
    if (parameters.has('to')) query = query.where('date', '<=', parameters('to'));
    if (parameters.has('status')) query = query.where('status', '=', parameters('status'));
    return inOrder(query, releaseOrder, parameters).$castTo<ReleaseReadRow>().compile();
  },
);

/** The days from a date to another, inclusive, that have a release; ascending. */
export const selectCalendar = prepareRead<
  Tenant & { readonly from: CivilDate; readonly to: CivilDate },
  CalendarReadRow
>((parameters) =>
  releases(parameters)
    .where('date', '>=', parameters('from'))
    .where('date', '<=', parameters('to'))
    .select([
      'date',
      leftOfDay('RELEASED').as('released_minor'),
      leftOfDay('SCHEDULED').as('scheduled_minor'),
      leftOfDay('BLOCKED').as('blocked_minor'),
    ])
    .select(sql<bigint>`sum(advanced_minor)::bigint`.as('advanced_minor'))
    .select(sql<bigint>`sum(deducted_minor)::bigint`.as('deducted_minor'))
    // An installment is in one row, and a sale has one installment of a date: no sale is counted twice.
    .select(sql<number>`sum(sales_count)::int`.as('sales_count'))
    .select(sql<boolean>`bool_or(status = 'BLOCKED')`.as('has_blocked'))
    .groupBy('date')
    .orderBy('date')
    .$castTo<CalendarReadRow>()
    .compile(),
);

/** The sums of an account's rows by status, and of its open debts. */
export const selectBalance = prepareRead<Tenant, BalanceReadRow>((parameters) =>
  releases(parameters)
    .select([leftOfAll('RELEASED').as('released_minor'), leftOfAll('SCHEDULED').as('scheduled_minor')])
    .select(leftOfAll('BLOCKED').as('blocked_minor'))
    .select((eb) =>
      eb
        .selectFrom('funds.deduction')
        .where('merchant_id', '=', parameters('merchantId'))
        .where('environment', '=', parameters('environment'))
        .where('open_debt_minor', '>', sql<bigint>`0`)
        .select(sql<string>`coalesce(sum(open_debt_minor), 0)::text`.as('sum'))
        .as('open_debts_minor'),
    )
    .$castTo<BalanceReadRow>()
    .compile(),
);

/**
 * The free installments dated after today, nearest first, each with the account's schedule id: one statement, so that the
 * installments are those of that version of the schedule. An account without such installments answers one row without an installment.
 */
export const selectAdvanceableInstallments = prepareRead<
  Tenant & { readonly today: CivilDate; readonly to: CivilDate | undefined; readonly limit: number },
  AdvanceableReadRow
>((parameters) =>
  db
    .selectFrom('funds.account as account')
    .leftJoin('funds.installment as installment', (join) => {
      const free = join
        .onRef('installment.merchant_id', '=', 'account.merchant_id')
        .onRef('installment.environment', '=', 'account.environment')
        .on('installment.status', '=', sql.lit('SCHEDULED'))
        .on('installment.reserved_for', 'is', null)
        .on('installment.remaining_minor', '>', sql<bigint>`0`)
        .on('installment.date', '>', parameters('today'));
      return parameters.has('to') ? free.on('installment.date', '<=', parameters('to')) : free;
    })
    .where('account.merchant_id', '=', parameters('merchantId'))
    .where('account.environment', '=', parameters('environment'))
    .select(['account.schedule_id', 'installment.id', 'installment.version', 'installment.date', 'installment.remaining_minor'])
    .orderBy('installment.date')
    .orderBy('installment.id')
    .limit(parameters('limit'))
    .$castTo<AdvanceableReadRow>()
    .compile(),
);

/** Accounts that have something to release up to a date. Across merchants: for the daily release alone. */
export const selectDueAccounts = prepareRead<
  { readonly upTo: CivilDate; readonly limit: number },
  DueAccountReadRow
>((parameters) =>
  db
    .selectFrom('funds.release as release')
    .where('release.status', '=', sql.lit('SCHEDULED'))
    .where('release.date', '<=', parameters('upTo'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('funds.installment as installment')
          .whereRef('installment.merchant_id', '=', 'release.merchant_id')
          .whereRef('installment.environment', '=', 'release.environment')
          .whereRef('installment.date', '=', 'release.date')
          .where('installment.status', '=', sql.lit('SCHEDULED'))
          .where('installment.reserved_for', 'is', null)
          .select(sql.lit(1).as('one')),
      ),
    )
    .select(['release.merchant_id', 'release.environment'])
    .distinct()
    .orderBy('release.merchant_id')
    .orderBy('release.environment')
    .limit(parameters('limit'))
    .$castTo<DueAccountReadRow>()
    .compile(),
);

interface DueReservationsOf {
  /** Of one account; of all, for the daily release, when neither is given. */
  readonly merchantId: string | undefined;
  readonly environment: EnvironmentName | undefined;
  readonly upTo: CivilDate;
  readonly limit: number;
}

/** Reservations that hold an installment due by a date. Latest first: old ones that cannot be freed keep no other back. */
export const selectDueReservations = prepareRead<DueReservationsOf, DueReservationReadRow>((parameters) => {
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
    .$castTo<DueReservationReadRow>()
    .compile();
});
