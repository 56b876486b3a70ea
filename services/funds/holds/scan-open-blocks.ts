import type { HandlerContext } from '@connectrpc/connect';
import {
  BlockReason,
  type ScanOpenBlocksRequest,
  type ScanOpenBlocksResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import { nextPosition, recordScanOf } from '../../platform/reads/record-scan.ts';
import { environmentEnum } from '../../platform/tenant.ts';
import { selectOpenBlocks } from '../scan.queries.ts';

/** A page of the open blocks of a reason, with all blocks of each source. */
export async function scanOpenBlocks(
  database: Database,
  request: ScanOpenBlocksRequest,
  context: HandlerContext,
): Promise<ScanOpenBlocksResponse> {
  const reason = enumName(BlockReason, request.reason);
  const rows = await database.readList(selectOpenBlocks({ ...recordScanOf(request, context), reason }));
  return {
    $typeName: 'payments.funds.v1.ScanOpenBlocksResponse',
    blocks: rows.map((row) => ({
      $typeName: 'payments.funds.v1.OpenBlock',
      merchantId: row.merchant_id,
      environment: environmentEnum(row.environment),
      sourceId: row.source_id,
      saleId: row.sale_id,
      openedAt: row.opened_at,
      ...(row.amount_minor !== null && { amountMinor: row.amount_minor }),
    })),
    next: nextPosition(rows, (row) => row.source_id),
  };
}
