import type { HandlerContext } from '@connectrpc/connect';
import {
  RefundDebitState,
  type ScanRefundDebitsRequest,
  type ScanRefundDebitsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../../platform/reads/record-scan.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { selectDebits, selectPendingDebits } from '../scan.queries.ts';

/** A page of the debits of refunds that are not reversed, or of those that await funding. */
export async function scanRefundDebits(
  database: Database,
  request: ScanRefundDebitsRequest,
  context: HandlerContext,
): Promise<ScanRefundDebitsResponse> {
  const select = request.state === RefundDebitState.PENDING ? selectPendingDebits : selectDebits;
  const rows = await database.readList(select(recordScanOf(request, context)));
  return {
    $typeName: 'payments.funds.v1.ScanRefundDebitsResponse',
    debits: rows.map((row) => ({
      $typeName: 'payments.funds.v1.RefundDebit',
      merchantId: row.merchant_id,
      environment: environmentEnum(row.environment),
      refundCaseId: row.refund_case_id,
      amountMinor: row.amount_minor,
    })),
    next: nextPosition(rows, (row) => row.refund_case_id),
  };
}
