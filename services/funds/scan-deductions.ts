import type { HandlerContext } from '@connectrpc/connect';
import type {
  ScanDeductionsRequest,
  ScanDeductionsResponse,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../platform/reads/record-scan.ts';
import { environmentEnum } from '../platform/tenant.ts';
import { scanDeductions as selectDeductions } from './scan.queries.ts';

/** A page of what lost disputes and other sources have taken. */
export async function scanDeductions(
  database: Database,
  request: ScanDeductionsRequest,
  context: HandlerContext,
): Promise<ScanDeductionsResponse> {
  const rows = await database.readList(selectDeductions(recordScanOf(request, context)));
  const next = nextPosition(rows, (row) => row.source_id);
  return {
    $typeName: 'payments.funds.v1.ScanDeductionsResponse',
    deductions: rows.map((row) => ({
      $typeName: 'payments.funds.v1.SourceDeduction',
      merchantId: row.merchant_id,
      environment: environmentEnum(row.environment),
      sourceId: row.source_id,
      amountMinor: row.amount_minor,
      ...(row.sale_rest_minor !== null && { saleRestMinor: row.sale_rest_minor }),
    })),
    ...(next && { next }),
  };
}
