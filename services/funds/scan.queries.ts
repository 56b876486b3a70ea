import { sql } from 'kysely';
import { matchingMerchant } from '../platform/reads/merchant-filter.ts';
import { prepareRead } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import { inScanOrder, type RecordScan } from '../platform/reads/record-scan.ts';
import type {
  BlockEntity,
  DeductionEntity,
  PendingDebitEntity,
  RefundDebitEntity,
  ReservationEntity,
} from './funds.entity.ts';
import { amountsDeductedFor, usedMinorOf } from './sales/sale-rest.sql.ts';

type BlockTable = ReadTable<typeof BlockEntity>;
type RefundDebitTable = ReadTable<typeof RefundDebitEntity>;
type ReservationTable = ReadTable<typeof ReservationEntity>;

const db = queryBuilder<{
  'funds.block': BlockTable;
  'funds.deduction': ReadTable<typeof DeductionEntity>;
  'funds.refund_debit': RefundDebitTable;
  'funds.pending_debit': ReadTable<typeof PendingDebitEntity>;
  'funds.reservation': ReservationTable;
}>();

type DebitReadRow = Pick<RefundDebitTable, 'merchant_id' | 'environment' | 'refund_case_id' | 'amount_minor'>;

/** A page of debits that are not reversed. */
export const selectDebits = prepareRead<RecordScan, DebitReadRow>((parameters) => {
  const debits = db
    .selectFrom('funds.refund_debit')
    .where('reversed_at', 'is', null)
    .select(['merchant_id', 'environment', 'refund_case_id', 'amount_minor']);
  return inScanOrder(debits, 'refund_case_id', parameters).compile();
});

/** A page of debits that await funding. */
export const selectPendingDebits = prepareRead<RecordScan, DebitReadRow>((parameters) => {
  const debits = db
    .selectFrom('funds.pending_debit')
    .select(['merchant_id', 'environment', 'refund_case_id', 'amount_minor']);
  return inScanOrder(debits, 'refund_case_id', parameters).compile();
});

type OpenBlockReadRow = Pick<
  BlockTable,
  'merchant_id' | 'environment' | 'source_id' | 'sale_id' | 'amount_minor' | 'opened_at'
>;

export const selectOpenBlocks = prepareRead<
  RecordScan & { readonly reason: BlockTable['reason'] },
  OpenBlockReadRow
>((parameters) => {
  const blocks = db
    .selectFrom('funds.block')
    .where('closed_at', 'is', null)
    .where('reason', '=', parameters('reason'))
    .select(['merchant_id', 'environment', 'source_id', 'sale_id', 'amount_minor', 'opened_at']);
  return inScanOrder(blocks, 'source_id', parameters).compile();
});

interface SourceReadRow {
  merchant_id: BlockTable['merchant_id'];
  environment: BlockTable['environment'];
  source_id: string;
}

interface SourceDeductionReadRow extends SourceReadRow {
  amount_minor: bigint;
  sale_rest_minor: bigint | null;
}

/** Distinct before it is limited to a page: a shorter page would look like the last one. */
const lostBlocks = db
  .selectFrom('funds.block')
  .distinct()
  .where('reason', '=', sql.lit('HOLD_OR_DISPUTE'))
  .where('outcome', '=', sql.lit('CONSUMED'))
  .select(['merchant_id', 'environment', 'source_id']);
const deductions = db
  .selectFrom('funds.deduction')
  .where('reversed_at', 'is', null)
  .select(['merchant_id', 'environment', 'source_id']);

/** A page of the sources that have a lost dispute block or a deduction. */
export const selectSources = prepareRead<RecordScan, SourceReadRow>((parameters) => {
  // Each of the two is limited to a page, so that both are read in the order of an index.
  const sources = db
    .selectFrom(inScanOrder(lostBlocks, 'source_id', parameters).as('lost_block'))
    .selectAll()
    .union(db.selectFrom(inScanOrder(deductions, 'source_id', parameters).as('deducted')).selectAll());
  const page = db.selectFrom(sources.as('source')).select(['merchant_id', 'environment', 'source_id']);
  return inScanOrder(page, 'source_id', parameters).compile();
});

const OF_SOURCE = {
  merchantId: 'source.merchant_id',
  environment: 'source.environment',
  schema: 'funds.',
} as const;

const DEDUCTED_MINOR = sql.raw<bigint>(`(
  select coalesce(sum(deducted.amount_minor), 0)
    from (${amountsDeductedFor('source.source_id', OF_SOURCE)}) as deducted)::bigint`);

/** Of the sale whose block was lost last; a source has more than one only if other teams block by it. */
const SALE_REST_MINOR = sql.raw<bigint | null>(`(
  select sale.gross_minor - ${usedMinorOf('sale.id', OF_SOURCE)}
    from funds.block join funds.sale
      on sale.merchant_id = source.merchant_id and sale.environment = source.environment and sale.id = block.sale_id
   where block.merchant_id = source.merchant_id and block.environment = source.environment
     and block.source_id = source.source_id and block.reason = 'HOLD_OR_DISPUTE' and block.outcome = 'CONSUMED'
   order by block.closed_at desc limit 1)::bigint`);

type DeductedFor = Pick<RecordScan, 'merchantId' | 'environment'> & {
  /** The sources, as three arrays of the same length. */
  readonly merchantIds: readonly string[];
  readonly environments: readonly string[];
  readonly sourceIds: readonly string[];
};

/**
 * The deductions for each of these sources, in the order of a scan. Reads their rows again, because Citus can join the
 * other tables to rows of the same node, but not to a page that it has merged.
 */
export const selectDeducted = prepareRead<DeductedFor, SourceDeductionReadRow>((parameters) => {
  const isGiven = sql<boolean>`(merchant_id, environment, source_id) in (
    select * from unnest(${parameters('merchantIds')}::uuid[], ${parameters('environments')}::text[],
                         ${parameters('sourceIds')}::uuid[]))`;
  const [lost, deducted] = [
    matchingMerchant(lostBlocks.where(isGiven), parameters),
    matchingMerchant(deductions.where(isGiven), parameters),
  ];
  return db
    .selectFrom(lost.union(deducted).as('source'))
    .select(['merchant_id', 'environment', 'source_id'])
    .select([DEDUCTED_MINOR.as('amount_minor'), SALE_REST_MINOR.as('sale_rest_minor')])
    .orderBy('merchant_id')
    .orderBy('environment')
    .orderBy('source_id')
    .compile();
});

type ReservationReadRow = Pick<
  ReservationTable,
  'merchant_id' | 'environment' | 'advance_request_id' | 'amount_minor' | 'state'
>;

/** A page of reservations that were not freed. */
export const selectReservations = prepareRead<RecordScan, ReservationReadRow>((parameters) => {
  const reservations = db
    .selectFrom('funds.reservation')
    .where('state', '<>', 'FREED')
    .select(['merchant_id', 'environment', 'advance_request_id', 'amount_minor', 'state']);
  return inScanOrder(reservations, 'advance_request_id', parameters).compile();
});
