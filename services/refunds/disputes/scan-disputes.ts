import type { HandlerContext } from '@connectrpc/connect';
import type {
  ScanDisputesRequest,
  ScanDisputesResponse,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../../platform/reads/record-scan.ts';
import { selectAllDisputes } from '../scan.queries.ts';
import { disputeMessage } from './dispute.message.ts';

/** A page of all disputes in the order of their keys. */
export async function scanDisputes(
  database: Database,
  request: ScanDisputesRequest,
  context: HandlerContext,
): Promise<ScanDisputesResponse> {
  const rows = await database.readList(selectAllDisputes(recordScanOf(request, context)));
  return {
    $typeName: 'payments.refunds.v1.ScanDisputesResponse',
    disputes: rows.map(disputeMessage),
    next: nextPosition(rows, (row) => row.id),
  };
}
