import { prepareRead } from '../platform/reads/prepared-read.ts';
import { queryBuilder } from '../platform/reads/query-builder.ts';
import type { ReadTable } from '../platform/reads/read-table.ts';
import { inScanOrder, type RecordScan } from '../platform/reads/record-scan.ts';
import type {
  BlockEntity,
  PendingDebitEntity,
  RefundDebitEntity,
  ReservationEntity,
} from './funds.entity.ts';

type BlockTable = ReadTable<typeof BlockEntity>;
type RefundDebitTable = ReadTable<typeof RefundDebitEntity>;
type ReservationTable = ReadTable<typeof ReservationEntity>;

const db = queryBuilder<{
  'funds.block': BlockTable;
  'funds.refund_debit': RefundDebitTable;
  'funds.pending_debit': ReadTable<typeof PendingDebitEntity>;
  'funds.reservation': ReservationTable;
}>();

type DebitReadRow = Pick<RefundDebitTable, 'merchant_id' | 'environment' | 'refund_case_id' | 'amount_minor'>;

/** A page of debits that are not reversed. */
export const scanDebits = prepareRead<RecordScan, DebitReadRow>((parameters) => {
  const debits = db
    .selectFrom('funds.refund_debit')
    .where('reversed_at', 'is', null)
    .select(['merchant_id', 'environment', 'refund_case_id', 'amount_minor']);
  return inScanOrder(debits, 'refund_case_id', parameters).compile();
});

/** A page of debits that await funding. */
export const scanPendingDebits = prepareRead<RecordScan, DebitReadRow>((parameters) => {
  const debits = db
    .selectFrom('funds.pending_debit')
    .select(['merchant_id', 'environment', 'refund_case_id', 'amount_minor']);
  return inScanOrder(debits, 'refund_case_id', parameters).compile();
});

type OpenBlockReadRow = Pick<
  BlockTable,
  'merchant_id' | 'environment' | 'source_id' | 'sale_id' | 'amount_minor'
>;

/** A page of open blocks of a reason. */
export const scanOpenBlocks = prepareRead<
  RecordScan & { readonly reason: BlockTable['reason'] },
  OpenBlockReadRow
>((parameters) => {
  const blocks = db
    .selectFrom('funds.block')
    .where('closed_at', 'is', null)
    .where('reason', '=', parameters('reason'))
    .select(['merchant_id', 'environment', 'source_id', 'sale_id', 'amount_minor']);
  return inScanOrder(blocks, 'source_id', parameters).compile();
});

type ReservationReadRow = Pick<
  ReservationTable,
  'merchant_id' | 'environment' | 'advance_request_id' | 'amount_minor' | 'state'
>;

/** A page of reservations that were not freed. */
export const scanReservations = prepareRead<RecordScan, ReservationReadRow>((parameters) => {
  const reservations = db
    .selectFrom('funds.reservation')
    .where('state', '<>', 'FREED')
    .select(['merchant_id', 'environment', 'advance_request_id', 'amount_minor', 'state']);
  return inScanOrder(reservations, 'advance_request_id', parameters).compile();
});
