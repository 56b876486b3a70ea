import type { Balances, Movement } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { BlockReason, MovementKind } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { enumName } from '../../../services/platform/enum-name.ts';
import { type CsvColumn, type CsvFormat, CsvWriter } from '../exports/csv.ts';
import { csvDate, csvTime } from '../exports/csv-download.ts';
import { streamed } from '../shell/downloads.ts';
import type { View } from '../shell/view.ts';
import type { DateRange } from './date-range.ts';

/** What the merchant has: the sum of the three balances. */
export const totalMinor = (balances: Balances): bigint =>
  balances.availableAmountMinor + balances.scheduledAmountMinor + balances.blockedAmountMinor;

const COLUMNS: readonly CsvColumn<Movement>[] = [
  { name: 'occurred_at', cell: ({ occurredAt }) => csvTime(occurredAt) },
  { name: 'date', cell: ({ occurredAt }) => csvDate(occurredAt) },
  { name: 'kind', cell: ({ kind }) => enumName(MovementKind, kind) },
  { name: 'movement_id', cell: ({ id }) => id },
  { name: 'source_id', cell: ({ sourceId }) => sourceId },
  { name: 'sale_id', cell: ({ saleId }) => saleId },
  { name: 'order_number', cell: ({ orderNumber }) => orderNumber },
  { name: 'release_date', cell: ({ releaseDate }) => releaseDate },
  {
    name: 'block_reason',
    cell: ({ blockReason }) =>
      blockReason === BlockReason.UNSPECIFIED ? undefined : enumName(BlockReason, blockReason),
  },
  { name: 'available_change', isSum: true, cell: ({ change }) => change!.availableAmountMinor },
  { name: 'scheduled_change', isSum: true, cell: ({ change }) => change!.scheduledAmountMinor },
  { name: 'blocked_change', isSum: true, cell: ({ change }) => change!.blockedAmountMinor },
  { name: 'total_change', isSum: true, cell: ({ change }) => totalMinor(change!) },
  { name: 'available_balance', cell: ({ balance }) => balance!.availableAmountMinor },
  { name: 'scheduled_balance', cell: ({ balance }) => balance!.scheduledAmountMinor },
  { name: 'blocked_balance', cell: ({ balance }) => balance!.blockedAmountMinor },
  { name: 'total_balance', cell: ({ balance }) => totalMinor(balance!) },
  { name: 'reason', cell: ({ reason }) => reason },
];

/** The statement as CSV: opening balance, movements, their total, closing balance. */
export async function* statementLines(
  view: View,
  range: DateRange,
  format: CsvFormat,
): AsyncGenerator<string> {
  const csv = new CsvWriter(COLUMNS, format);
  const messages = streamed(
    (options) => view.clients.funds.exportMovements(range.request, options),
    (message) => message,
  );
  for await (const message of messages) {
    const { openingBalance, movements, closingBalance } = message;
    if (openingBalance) yield csv.header() + csv.other('opening', balanceCells(openingBalance));
    if (movements.length > 0) yield csv.items(movements);
    if (closingBalance) yield csv.total() + csv.other('closing', balanceCells(closingBalance));
  }
}

const balanceCells = (balances: Balances) => ({
  available_balance: balances.availableAmountMinor,
  scheduled_balance: balances.scheduledAmountMinor,
  blocked_balance: balances.blockedAmountMinor,
  total_balance: totalMinor(balances),
});
