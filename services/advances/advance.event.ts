import type { JsonObject } from '@bufbuild/protobuf';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { AdvanceRequestRow } from './advance.entity.ts';

type AdvanceEventType =
  | 'advance.requested.v1'
  | 'advance.approved.v1'
  | 'advance.refused.v1'
  | 'advance.released.v1'
  | 'advance.settled.v1';

/** Publishes an event with the request in its current state. */
export async function publishEvent(
  tx: TenantTransaction,
  type: AdvanceEventType,
  row: AdvanceRequestRow,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: row.id, data: advanceEventData(row), occurredAt });
}

/** The `data` of advance events: the request as merchants see it, without absent values. */
function advanceEventData(row: AdvanceRequestRow): JsonObject {
  return {
    id: row.id,
    quoteId: row.quoteId,
    scheduleId: row.scheduleId,
    amount: Number(row.amountMinor),
    feeAmount: Number(row.feeMinor),
    netAmount: Number(row.netMinor),
    status: row.status,
    requestedAt: row.requestedAt.toISOString(),
    ...(row.reviewedAt !== null && { reviewedAt: row.reviewedAt.toISOString() }),
    ...(row.reviewReason !== null && { reviewReason: row.reviewReason }),
    ...(row.releasedAt !== null && { releasedAt: row.releasedAt.toISOString() }),
  };
}
