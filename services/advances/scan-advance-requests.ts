import type { HandlerContext } from '@connectrpc/connect';
import type {
  ScanAdvanceRequestsRequest,
  ScanAdvanceRequestsResponse,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import type { Database } from '../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../platform/reads/record-scan.ts';
import { advanceRequestMessage } from './advance.message.ts';
import { selectAllRequests } from './advance.queries.ts';

/** A page of all requests in the order of their keys. */
export async function scanAdvanceRequests(
  database: Database,
  request: ScanAdvanceRequestsRequest,
  context: HandlerContext,
): Promise<ScanAdvanceRequestsResponse> {
  const rows = await database.readList(selectAllRequests(recordScanOf(request, context)));
  return {
    $typeName: 'payments.advances.v1.ScanAdvanceRequestsResponse',
    advanceRequests: rows.map(advanceRequestMessage),
    next: nextPosition(rows, (row) => row.id),
  };
}
