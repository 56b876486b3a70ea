import { sql } from 'kysely';
import type { CivilDate } from '../../platform/civil-date.ts';
import { isAnyOf } from '../../platform/reads/ids.ts';
import { inOrder, type ListOrder, type PageRange } from '../../platform/reads/list-order.ts';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import { startOf } from '../../platform/reads/start-of-date.ts';
import type { RecordKey, Tenant } from '../../platform/tenant.ts';
import { type BlockEntity, type InstallmentEntity, type PostingEntity, SaleEntity } from '../funds.entity.ts';
import { type FundsTotalsRow, SALE_TOTALS } from '../funds-totals.ts';
import type { BlockReason, ReleaseStatus } from './installment.ts';
import type { SaleStatus } from './sale-status.ts';

type InstallmentReadRow = ReadTable<typeof InstallmentEntity>;

/** The funds of installments by state, in centavos. */
export interface FundsSums {
  deducted_minor: bigint;
  advanced_minor: bigint;
  blocked_minor: bigint;
  released_minor: bigint;
  scheduled_minor: bigint;
}

/** A sale with the sums of its installments. */
export type SaleReadRow = ReadTable<typeof SaleEntity> & FundsSums;

const db = queryBuilder<{
  'funds.block': ReadTable<typeof BlockEntity>;
  'funds.installment': InstallmentReadRow;
  'funds.posting': ReadTable<typeof PostingEntity>;
  'funds.sale': ReadTable<typeof SaleEntity>;
}>();

const total = (column: 'gross_minor' | 'fees_minor' | 'deducted_minor' | 'advanced_minor') =>
  sql<bigint>`coalesce(sum(${sql.ref(column)}), 0)::bigint`;
const remaining = (status: ReleaseStatus) =>
  sql<bigint>`coalesce(sum(remaining_minor) filter (where status = ${sql.lit(status)}), 0)::bigint`;

const SUMS = [
  total('deducted_minor').as('deducted_minor'),
  total('advanced_minor').as('advanced_minor'),
  remaining('BLOCKED').as('blocked_minor'),
  remaining('RELEASED').as('released_minor'),
  remaining('SCHEDULED').as('scheduled_minor'),
] as const;

function installments(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.installment')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

/** The sums of the installments of `sale`, a table of the query around it. */
const sumsOfSale = (parameters: ReadParameters<Tenant>) =>
  installments(parameters).where('sale_id', '=', sql.ref<string>('sale.id')).select(SUMS).as('sums');

function sales(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.sale as sale')
    .innerJoinLateral(sumsOfSale(parameters), (join) => join.onTrue())
    .select(columnsOf(SaleEntity, 'sale'))
    .selectAll('sums')
    .where('sale.merchant_id', '=', parameters('merchantId'))
    .where('sale.environment', '=', parameters('environment'));
}

/** One of the installments of a sale, with the sale. */
export type SaleInstallmentReadRow = SaleReadRow & {
  installment_id: string;
  installment_status: ReleaseStatus;
  installment_gross_minor: bigint;
  installment_fees_minor: bigint;
  installment_deducted_minor: bigint;
  installment_advanced_minor: bigint;
  /** What blocks it, oldest first; null when nothing does. */
  blocks: { reason: BlockReason; source_id: string }[] | null;
  /** The requests that it was advanced by, oldest first; null when it was not. */
  advance_request_ids: string[] | null;
} & Pick<InstallmentReadRow, 'number' | 'part' | 'date'>;

/** A sale's installments by number and part, each with the sale: one statement, so that the sums belong to them. */
export const selectSale = prepareRead<RecordKey, SaleInstallmentReadRow>((parameters) =>
  sales(parameters)
    .innerJoin('funds.installment as installment', (join) =>
      join
        .onRef('installment.sale_id', '=', 'sale.id')
        .on('installment.merchant_id', '=', parameters('merchantId'))
        .on('installment.environment', '=', parameters('environment')),
    )
    .where('sale.id', '=', parameters('id'))
    .select(['installment.number', 'installment.part', 'installment.date'])
    .select(['installment.id as installment_id', 'installment.status as installment_status'])
    .select('installment.gross_minor as installment_gross_minor')
    .select('installment.fees_minor as installment_fees_minor')
    .select('installment.deducted_minor as installment_deducted_minor')
    .select('installment.advanced_minor as installment_advanced_minor')
    .select(blocksOfInstallment(parameters).as('blocks'))
    .select(advancesOfInstallment(parameters).as('advance_request_ids'))
    .orderBy('installment.number')
    .orderBy('installment.part')
    .compile(),
);

/** What blocks `installment`, oldest first. */
function blocksOfInstallment(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.block as block')
    .where('block.merchant_id', '=', parameters('merchantId'))
    .where('block.environment', '=', parameters('environment'))
    .where(sql<boolean>`block.id = any(installment.held_by)`)
    .select(
      sql<{ reason: BlockReason; source_id: string }[] | null>`
        json_agg(json_build_object('reason', block.reason, 'source_id', block.source_id)
          order by block.opened_at, block.id)`.as('blocks'),
    );
}

/** The advance requests that `installment` was advanced by, oldest first. */
function advancesOfInstallment(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('funds.posting as posting')
    .where('posting.merchant_id', '=', parameters('merchantId'))
    .where('posting.environment', '=', parameters('environment'))
    .where('posting.installment_id', '=', sql.ref<string>('installment.id'))
    .where('posting.kind', '=', sql.lit('ADVANCE'))
    .select(
      sql<string[] | null>`json_agg(posting.source_id order by posting.posted_at, posting.id)`.as('ids'),
    );
}

/** Which sales to list; dates of capture, inclusive. Undefined filters are ignored. */
export interface SaleFilter {
  readonly from: CivilDate | undefined;
  readonly to: CivilDate | undefined;
  readonly orderId: string | undefined;
  readonly orderNumber: string | undefined;
  readonly productId: string | undefined;
  readonly customerReference: string | undefined;
  readonly status: SaleStatus | undefined;
  readonly saleIds: readonly string[] | undefined;
}

/** An order number as stored in the index. */
const SEARCHED_NUMBER = sql<string>`lower(order_number) collate "C"`;

/** The last code point, which text does not use. */
const AFTER_ANY_LETTER = '\u{10ffff}';

/** Sales are listed newest first. */
export const saleOrder: ListOrder<SaleReadRow> = { columns: ['captured_at', 'id'], direction: 'desc' };

export const selectSales = prepareRead<Tenant & SaleFilter & PageRange, SaleReadRow>((parameters) =>
  inOrder(matchingSales(parameters), saleOrder, parameters, 'sale').compile(),
);

export const selectSaleTotals = prepareRead<Tenant & SaleFilter, FundsTotalsRow>((parameters) =>
  db.selectFrom(matchingSales(parameters).as('matching')).select(SALE_TOTALS).compile(),
);

function matchingSales(parameters: ReadParameters<Tenant & SaleFilter>) {
  let query = sales(parameters);
  if (parameters.has('from')) query = query.where('captured_at', '>=', startOf(parameters('from'), 0));
  if (parameters.has('to')) query = query.where('captured_at', '<', startOf(parameters('to'), 1));
  if (parameters.has('orderId')) query = query.where('order_id', '=', parameters('orderId'));
  if (parameters.has('orderNumber')) {
    // The index stores numbers in lower case.
    query = query
      .where(SEARCHED_NUMBER, '=', sql<string>`lower(${parameters('orderNumber')})`)
      .where('order_number', '=', parameters('orderNumber'));
  }
  if (parameters.has('productId')) query = query.where('product_id', '=', parameters('productId'));
  if (parameters.has('customerReference')) {
    query = query.where('customer_reference', '=', parameters('customerReference'));
  }
  if (parameters.has('status')) query = query.where('sale.status', '=', parameters('status'));
  if (parameters.has('saleIds')) query = query.where(isAnyOf('sale.id', parameters('saleIds')));
  return query;
}

/** The first sales whose order number starts with the prefix, in any case: a range of the index, in its order. */
export const selectFoundSales = prepareRead<
  Tenant & { readonly prefix: string; readonly limit: number },
  SaleReadRow
>((parameters) => {
  const prefix = sql<string>`lower(${parameters('prefix')})`;
  return sales(parameters)
    .where(SEARCHED_NUMBER, '>=', prefix)
    .where(SEARCHED_NUMBER, '<', sql<string>`${prefix} || ${sql.lit(AFTER_ANY_LETTER)}`)
    .orderBy(SEARCHED_NUMBER)
    .orderBy('captured_at', 'desc')
    .orderBy('sale.id', 'desc')
    .limit(parameters('limit'))
    .compile();
});

/** A sale behind a release row or a day, with the sums of its installment there. */
export type ReleaseSaleReadRow = SaleReadRow & {
  sale_id: string;
  number: number;
  in_row_gross_minor: bigint;
  in_row_fees_minor: bigint;
  in_row_deducted_minor: bigint;
  in_row_advanced_minor: bigint;
  in_row_blocked_minor: bigint;
  in_row_released_minor: bigint;
  in_row_scheduled_minor: bigint;
  /** The reasons of the parts that fall on the date; null when none is blocked. */
  blocked_reasons: BlockReason[] | null;
};

/** A sale has at most one installment on a date: its parts have one number. */
const IN_ROW = [
  'sale_id',
  sql<number>`min(number)`.as('number'),
  total('gross_minor').as('in_row_gross_minor'),
  total('fees_minor').as('in_row_fees_minor'),
  total('deducted_minor').as('in_row_deducted_minor'),
  total('advanced_minor').as('in_row_advanced_minor'),
  remaining('BLOCKED').as('in_row_blocked_minor'),
  remaining('RELEASED').as('in_row_released_minor'),
  remaining('SCHEDULED').as('in_row_scheduled_minor'),
] as const;

/** The sales behind a row are listed by their ids, in the order of the index by date. */
export const releaseSaleOrder: ListOrder<{ sale_id: string }> = { columns: ['sale_id'], direction: 'asc' };

interface ReleaseSalePage extends Tenant, PageRange {
  readonly date: CivilDate;
}

/** A page of the sales behind a day, or behind its row of a status. */
export const selectReleaseSales = {
  DAY: releaseSalePage(),
  BLOCKED: releaseSalePage('BLOCKED'),
  RELEASED: releaseSalePage('RELEASED'),
  SCHEDULED: releaseSalePage('SCHEDULED'),
} as const;

/** @param status a part of the statement, so that the index of blocked installments is used. */
function releaseSalePage(status?: ReleaseStatus) {
  return prepareRead<ReleaseSalePage, ReleaseSaleReadRow>((parameters) => {
    let inRow = installments(parameters).where('date', '=', parameters('date'));
    if (status) inRow = inRow.where('status', '=', sql.lit(status));
    const page = inOrder(inRow.groupBy('sale_id').select(IN_ROW), releaseSaleOrder, parameters);
    return db
      .selectFrom(page.as('in_row'))
      .innerJoin('funds.sale as sale', (join) =>
        join
          .onRef('sale.id', '=', 'in_row.sale_id')
          .on('sale.merchant_id', '=', parameters('merchantId'))
          .on('sale.environment', '=', parameters('environment')),
      )
      .innerJoinLateral(sumsOfSale(parameters), (join) => join.onTrue())
      .select(columnsOf(SaleEntity, 'sale'))
      .selectAll('sums')
      .selectAll('in_row')
      .select(reasonsOfSale(parameters).as('blocked_reasons'))
      .orderBy('in_row.sale_id')
      .compile();
  });
}

/** Why parts of `in_row`'s sale are blocked on the date. */
function reasonsOfSale(parameters: ReadParameters<ReleaseSalePage>) {
  return db
    .selectFrom('funds.block as block')
    .where('block.merchant_id', '=', parameters('merchantId'))
    .where('block.environment', '=', parameters('environment'))
    .where('block.sale_id', '=', sql.ref<string>('in_row.sale_id'))
    .where('block.closed_at', 'is', null)
    .where((the) =>
      the.exists(
        installments(parameters)
          .where('date', '=', parameters('date'))
          .where('sale_id', '=', sql.ref<string>('block.sale_id'))
          .where(sql<boolean>`block.id = any(held_by)`),
      ),
    )
    .select(sql<BlockReason[] | null>`array_agg(distinct block.reason)`.as('reasons'));
}
