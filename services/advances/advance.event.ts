import type { JsonObject } from '@bufbuild/protobuf';
import type { AdvanceRequestRow } from './advance.entity.ts';

/** The `data` of advance events: the request as merchants see it, without absent values. */
export function advanceEventData(row: AdvanceRequestRow): JsonObject {
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
