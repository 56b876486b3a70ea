import type { HandlerContext } from '@connectrpc/connect';
import type {
  ScanReservationsRequest,
  ScanReservationsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../../platform/reads/record-scan.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { selectReservations } from '../scan.queries.ts';

/** A page of the reservations that are held or settled. */
export async function scanReservations(
  database: Database,
  request: ScanReservationsRequest,
  context: HandlerContext,
): Promise<ScanReservationsResponse> {
  const rows = await database.readList(selectReservations(recordScanOf(request, context)));
  return {
    $typeName: 'payments.funds.v1.ScanReservationsResponse',
    reservations: rows.map((row) => ({
      $typeName: 'payments.funds.v1.Reservation',
      merchantId: row.merchant_id,
      environment: environmentEnum(row.environment),
      advanceRequestId: row.advance_request_id,
      amountMinor: row.amount_minor,
      settled: row.state === 'SETTLED',
    })),
    next: nextPosition(rows, (row) => row.advance_request_id),
  };
}
