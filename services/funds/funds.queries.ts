import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { sql } from 'kysely';
import type { CivilDate } from '../platform/civil-date.ts';
import { inOrder, type ListOrder, type PageRange } from '../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../platform/reads/read-table.ts';
import type { Tenant } from '../platform/tenant.ts';
import {
  type AccountEntity,
  type DeductionEntity,
  type InstallmentEntity,
  ReleaseEntity,
} from './funds.entity.ts';
import { type FundsTotalsRow, RELEASE_TOTALS } from './funds-totals.ts';
import type { ReleaseStatus } from './sales/installment.ts';

/** A release row as hot reads return it; amounts in centavos. */
export type ReleaseReadRow = ReadTable<typeof ReleaseEntity>;

type InstallmentReadRow = ReadTable<typeof InstallmentEntity>;

const db = queryBuilder<{
  'funds.account': ReadTable<typeof AccountEntity>;
  'funds.deduction': ReadTable<typeof DeductionEntity>;
  'funds.installment': InstallmentReadRow;
  'funds.release': ReleaseReadRow;
}>();

function releases(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.release')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

const remainingIn = (status: ReleaseStatus) =>
  sql`coalesce(sum(remaining_minor) filter (where status = ${sql.lit(status)}), 0)`;
const remainingOfDay = (status: ReleaseStatus) => sql<bigint>`${remainingIn(status)}::bigint`;
/** As text: the sum of all days may exceed 64 bits. */
const remainingOfAll = (status: ReleaseStatus) => sql<string>`${remainingIn(status)}::text`;

/** Which releases to list; dates inclusive. */
export interface ReleaseFilter {
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
  readonly status: ReleaseStatus | undefined;
}

export const releaseOrder: ListOrder<ReleaseReadRow> = { columns: ['date', 'status'], direction: 'asc' };

export const selectReleases = prepareRead<Tenant & ReleaseFilter & PageRange, ReleaseReadRow>((parameters) =>
  inOrder(matchingReleases(parameters).select(columnsOf(ReleaseEntity)), releaseOrder, parameters).compile(),
);

export const selectReleaseTotals = prepareRead<Tenant & ReleaseFilter, FundsTotalsRow>((parameters) =>
  matchingReleases(parameters).select(RELEASE_TOTALS).compile(),
);

function matchingReleases(parameters: ReadParameters<Tenant & ReleaseFilter>) {
  let query = releases(parameters);
  if (parameters.has('from')) query = query.where('date', '>=', parameters('from'));
  if (parameters.has('to')) query = query.where('date', '<=', parameters('to'));
  if (parameters.has('status')) query = query.where('status', '=', parameters('status'));
  return query;
}

/** A day of the calendar: the sums of its rows, in centavos. */
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
      remainingOfDay('RELEASED').as('released_minor'),
      remainingOfDay('SCHEDULED').as('scheduled_minor'),
      remainingOfDay('BLOCKED').as('blocked_minor'),
      sql<bigint>`sum(advanced_minor)::bigint`.as('advanced_minor'),
      sql<bigint>`sum(deducted_minor)::bigint`.as('deducted_minor'),
      // Counts no sale twice: a sale has at most one installment on a date, and it has one first part.
      sql<number>`sum(first_parts)::int`.as('sales_count'),
      sql<boolean>`bool_or(status = 'BLOCKED')`.as('has_blocked'),
    ])
    .groupBy('date')
    .orderBy('date')
    .compile(),
);

/** The sums of an account, in centavos, as text. */
export interface BalanceReadRow {
  released_minor: string;
  scheduled_minor: string;
  blocked_minor: string;
  open_debts_minor: string;
  last_debt_at: Timestamp | null;
}

/** The sums of an account's rows by status and of its open debts, and when the last of these arose. */
export const selectBalance = prepareRead<Tenant, BalanceReadRow>((parameters) => {
  const openDebts = db
    .selectFrom('funds.deduction')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('open_debt_minor', '>', sql<bigint>`0`);
  const sum = sql<string>`coalesce(sum(open_debt_minor), 0)::text`.as('sum');
  return releases(parameters)
    .select([
      remainingOfAll('RELEASED').as('released_minor'),
      remainingOfAll('SCHEDULED').as('scheduled_minor'),
      remainingOfAll('BLOCKED').as('blocked_minor'),
      openDebts.select(sum).$asScalar().$notNull().as('open_debts_minor'),
      openDebts
        .select(sql<Timestamp | null>`max(greatest(occurred_at, raised_at))`.as('last'))
        .$asScalar()
        .as('last_debt_at'),
    ])
    .compile();
});

/** The version of an account's schedule, with an installment that an advance can cover, or none. */
type AdvanceableReadRow = { schedule_id: string } & (
  | Pick<InstallmentReadRow, 'id' | 'version' | 'date' | 'remaining_minor'>
  | { id: null; version: null; date: null; remaining_minor: null }
);

/**
 * The free installments dated after today, nearest first, each with the account's schedule id: one statement, so that
 * the installments belong to that version of the schedule. For an account without such installments, one row without
 * an installment.
 */
export const selectAdvanceableInstallments = prepareRead<
  Tenant & { readonly today: CivilDate; readonly to: CivilDate | undefined; readonly limit: number },
  AdvanceableReadRow
>((parameters) => {
  let free = db
    .selectFrom('funds.installment')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('status', '=', sql.lit('SCHEDULED'))
    .where('reserved_for', 'is', null)
    .where('remaining_minor', '>', sql<bigint>`0`)
    .where('date', '>', parameters('today'));
  if (parameters.has('to')) free = free.where('date', '<=', parameters('to'));
  // Limited before the join, which would read and sort all of them.
  const nearest = free
    .select(['id', 'version', 'date', 'remaining_minor'])
    .orderBy('date')
    .orderBy('id')
    .limit(parameters('limit'));
  return db
    .selectFrom('funds.account as account')
    .leftJoin(nearest.as('installment'), (join) => join.onTrue())
    .where('account.merchant_id', '=', parameters('merchantId'))
    .where('account.environment', '=', parameters('environment'))
    .select(['account.schedule_id', 'installment.id', 'installment.version', 'installment.date'])
    .select('installment.remaining_minor')
    .orderBy('installment.date')
    .orderBy('installment.id')
    .compile();
});
