import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { BlockReason, FundsService } from '../../proto/gen/payments/funds/v1/funds_pb.js';
import type { RecordPosition } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import type { TenantFields } from '../../services/platform/tenant.ts';

/** When the last open block of a reason began; undefined if there is none. */
export async function lastOpenBlockAt(
  funds: Client<typeof FundsService>,
  tenant: TenantFields,
  reason: BlockReason,
): Promise<Date | undefined> {
  let lastMs: number | undefined;
  let after: RecordPosition | undefined;
  do {
    const page = { ...tenant, reason, ...(after && { after }) };
    const { blocks, next } = await funds.scanOpenBlocks(page);
    for (const { openedAt } of blocks) lastMs = Math.max(lastMs ?? 0, timestampMs(openedAt!));
    after = next;
  } while (after);
  return lastMs === undefined ? undefined : new Date(lastMs);
}
