import type { JsonObject } from '@bufbuild/protobuf';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { OutboxEvent } from '../platform/outbox/outbox-events.ts';
import { type ReleaseStatus, statusOf } from './installment.ts';
import {
  blockedReasons,
  type InstallmentChange,
  type ReleaseRow,
  rowOriginalMinor,
  rowRemainingMinor,
} from './release-rows.ts';

type FundsEventType = 'funds.released.v1' | 'funds.blocked.v1' | 'funds.unblocked.v1';

/** The event for an installment that moved to another row of its date; null when there is none. */
export function eventOfMove({ before, after, splitFrom }: InstallmentChange): FundsEventType | null {
  const source = before ?? splitFrom;
  const from = source && statusOf(source);
  const to = statusOf(after);
  if (from === to) return null;
  if (to === 'BLOCKED') return 'funds.blocked.v1';
  if (from === 'BLOCKED') return 'funds.unblocked.v1';
  return to === 'RELEASED' ? 'funds.released.v1' : null;
}

/** Publishes the changed rows, each as an event of its date, so that receivers get the changes of a date in order. */
export async function publishReleases(
  tx: TenantTransaction,
  type: FundsEventType,
  rows: readonly ReleaseRow[],
  occurredAt: Date,
): Promise<void> {
  for (const row of rows) {
    await tx.publish({ type, objectId: row.date, data: releaseEventData(row), occurredAt });
  }
}

/** The event of a row that new installments have entered as released. */
export function releasedEvent(row: ReleaseRow, requestId: string, occurredAt: Date): OutboxEvent {
  const type: FundsEventType = 'funds.released.v1';
  return { type, objectId: row.date, data: releaseEventData(row), requestId, occurredAt };
}

/** The `data` of funds events: the release row as merchants read it. */
function releaseEventData(row: ReleaseRow): JsonObject {
  const remainingIf = (status: ReleaseStatus) => (row.status === status ? Number(rowRemainingMinor(row)) : 0);
  return {
    date: row.date,
    status: row.status,
    originalAmountMinor: Number(rowOriginalMinor(row)),
    grossAllocatedAmountMinor: Number(row.grossMinor),
    feesAllocatedAmountMinor: Number(row.feesMinor),
    deductionsAmountMinor: Number(row.deductedMinor),
    advancedAmountMinor: Number(row.advancedMinor),
    blockedAmountMinor: remainingIf('BLOCKED'),
    releasedAmountMinor: remainingIf('RELEASED'),
    scheduledAmountMinor: remainingIf('SCHEDULED'),
    salesCount: row.salesCount,
    blockedReasons: blockedReasons(row),
  };
}
