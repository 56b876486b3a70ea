import type { HandlerContext } from '@connectrpc/connect';
import type {
  ScanDeductionsRequest,
  ScanDeductionsResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { nextPosition, recordScanOf } from '../../platform/reads/record-scan.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { selectDeducted, selectSources } from '../scan.queries.ts';

/** A page of the amounts deducted for lost disputes and other sources. */
export async function scanDeductions(
  database: Database,
  request: ScanDeductionsRequest,
  context: HandlerContext,
): Promise<ScanDeductionsResponse> {
  const scan = recordScanOf(request, context);
  const sources = await database.readList(selectSources(scan));
  const deducted = selectDeducted({
    merchantId: scan.merchantId,
    environment: scan.environment,
    merchantIds: sources.map((source) => source.merchant_id),
    environments: sources.map((source) => source.environment),
    sourceIds: sources.map((source) => source.source_id),
  });
  const rows = await database.readList(deducted);
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
    next: nextPosition(sources, (source) => source.source_id),
  };
}
