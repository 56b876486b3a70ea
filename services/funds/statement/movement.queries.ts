import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type RawBuilder, sql } from 'kysely';
import { ACCOUNT_TIME_ZONE, type CivilDate } from '../../platform/civil-date.ts';
import type { ListOrder, PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { startOf } from '../../platform/reads/start-of-date.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { BlockReason } from '../sales/installment.ts';
import type { MovementKind } from './movement.ts';

/** Balances in centavos, as text: sums over all days may exceed 64 bits. */
export type BalanceText = readonly [available: string, scheduled: string, blocked: string];

/** A movement of the statement; changes in centavos. */
export interface MovementReadRow {
  id: string;
  kind: MovementKind;
  source_id: string | null;
  sale_id: string | null;
  order_number: string | null;
  release_date: CivilDate | null;
  block_reason: BlockReason | null;
  available_minor: bigint;
  scheduled_minor: bigint;
  blocked_minor: bigint;
  occurred_at: Timestamp;
  /** Of the deduction. */
  reason: string | null;
  /** Within the page, from 1. */
  place: number;
}

/** The movements of one kind. */
export interface MovementTotalText {
  readonly kind: MovementKind;
  readonly count: number;
  readonly change: BalanceText;
}

/** The balances before the page, before the range and after it, repeated in every row of a page. */
interface BalancesReadRow {
  opening: BalanceText;
  closing: BalanceText;
  before_page: BalanceText;
  totals: readonly MovementTotalText[] | null;
}

/** A row of a page. A page without movements has one row, without a movement. */
export type StatementReadRow = BalancesReadRow & (MovementReadRow | { id: null });

/** A range of dates, inclusive, in the account's time zone. */
export interface StatementRange {
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
}

type Parameters = ReadParameters<Tenant & StatementRange & PageRange & { readonly totals: true | undefined }>;
type PageParameters = ReadParameters<Tenant & StatementRange & PageRange>;

/** Movements are listed in the order in which they took effect. */
export const movementOrder: ListOrder<MovementReadRow> = {
  columns: ['occurred_at', 'id'],
  direction: 'asc',
};

const SUMS = sql`json_build_array(coalesce(sum(available_minor), 0)::text, coalesce(sum(scheduled_minor), 0)::text,
  coalesce(sum(blocked_minor), 0)::text)`;
const CHANGES = sql`available_minor, scheduled_minor, blocked_minor`;

const db = queryBuilder<object>();

const ofTenant = (parameters: ReadParameters<Tenant>, table = '') =>
  sql`${sql.raw(table)}merchant_id = ${parameters('merchantId')}
    and ${sql.raw(table)}environment = ${parameters('environment')}`;

/** The condition of the range on `occurred_at`. */
function inRange(parameters: PageParameters): RawBuilder<unknown> {
  const from = parameters.has('from') ? sql` and occurred_at >= ${startOf(parameters('from'), 0)}` : sql``;
  const to = parameters.has('to') ? sql` and occurred_at < ${startOf(parameters('to'), 1)}` : sql``;
  return sql`${from}${to}`;
}

const days = (parameters: Parameters) =>
  sql`select ${SUMS} from funds.balance_day where ${ofTenant(parameters)}`;

/** The balances after the last movement of the previous page: the days before it, and its day up to it. */
function beforePage(parameters: Parameters): RawBuilder<unknown> {
  if (!parameters.has('after')) return opening(parameters);
  const after = parameters('after');
  const day = sql`(${after}::timestamptz at time zone ${sql.lit(ACCOUNT_TIME_ZONE)})::date`;
  return sql`select ${SUMS} from (
      select ${CHANGES} from funds.balance_day where ${ofTenant(parameters)} and date < ${day}
      union all
      select ${CHANGES} from funds.movement
       where ${ofTenant(parameters)} and occurred_at >= ${startOf(day, 0)}
         and (occurred_at, id) <= (${after}, ${parameters('afterTie')})) as earlier`;
}

function opening(parameters: Parameters): RawBuilder<unknown> {
  return parameters.has('from')
    ? sql`${days(parameters)} and date < ${parameters('from')}::date`
    : sql`select json_build_array('0', '0', '0')`;
}

const closing = (parameters: Parameters) =>
  parameters.has('to') ? sql`${days(parameters)} and date <= ${parameters('to')}::date` : days(parameters);

function totals(parameters: Parameters): RawBuilder<unknown> {
  if (!parameters.has('totals')) return sql`select null::json`;
  return sql`select json_agg(total) from (
      select kind, count(*)::int as count, ${SUMS} as change from funds.movement
       where ${ofTenant(parameters)}${inRange(parameters)} group by kind) as total`;
}

/**
 * A page of the statement with its balances: one statement, so that they belong together. Sums of whole days come from
 * `funds.balance_day`.
 */
export const selectStatement = prepareRead<
  Tenant & StatementRange & PageRange & { readonly totals: true | undefined },
  StatementReadRow
>((parameters) => {
  return sql<StatementReadRow>`
    select balances.*, page.* from (
      select (${opening(parameters)}) as opening, (${closing(parameters)}) as closing,
             (${beforePage(parameters)}) as before_page, (${totals(parameters)}) as totals
    ) as balances
    left join (${pageOf(parameters)}) as page on true`.compile(db);
});

/** A page of movements alone. */
export const selectMovements = prepareRead<Tenant & StatementRange & PageRange, MovementReadRow>(
  (parameters) => pageOf(parameters).compile(db),
);

/** A page of the movements that name a sale. */
export const selectSaleMovements = prepareRead<
  Tenant & PageRange & { readonly saleId: string },
  MovementReadRow
>((parameters) => pageWhere(parameters, sql` and sale_id = ${parameters('saleId')}`).compile(db));

const pageOf = (parameters: PageParameters) => pageWhere(parameters, inRange(parameters));

function pageWhere(
  parameters: ReadParameters<Tenant & PageRange>,
  condition: RawBuilder<unknown>,
): RawBuilder<MovementReadRow> {
  const position = parameters.has('after')
    ? sql` and (occurred_at, id) > (${parameters('after')}, ${parameters('afterTie')})`
    : sql``;
  return sql<MovementReadRow>`
    select id, kind, source_id, sale_id, release_date, block_reason, ${CHANGES}, occurred_at,
           row_number() over (order by occurred_at, id)::int as place,
           (select sale.order_number from funds.sale as sale
             where ${ofTenant(parameters, 'sale.')} and sale.id = movement.sale_id) as order_number,
           (select deduction.reason from funds.deduction as deduction
             where ${ofTenant(parameters, 'deduction.')} and deduction.source_id = movement.source_id
               and movement.kind in ('DEDUCTION', 'DEDUCTION_REVERSAL', 'DEBT_COLLECTION')) as reason
      from funds.movement where ${ofTenant(parameters)}${condition}${position}
     order by occurred_at, id limit ${parameters('limit')}`;
}
