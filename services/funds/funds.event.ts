import type { JsonObject } from '@bufbuild/protobuf';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import type { OutboxEvent } from '../platform/outbox/outbox-events.ts';
import {
  blockedReasons,
  type InstallmentChange,
  type ReleaseRow,
  rowKey,
  rowOriginalMinor,
  rowRemainingMinor,
} from './releases/release-rows.ts';
import type { ReleaseStore } from './releases/release-store.ts';
import { type ReleaseStatus, statusOf } from './sales/installment.ts';

type FundsEventType = 'funds.released.v1' | 'funds.blocked.v1' | 'funds.unblocked.v1';

/**
 * Publishes the release rows to which installments have moved, as they are now, by date: each as an event of its date, so that
 * receivers get the changes of a date in order.
 */
export async function publishMoves(
  tx: TenantTransaction,
  releases: ReleaseStore,
  changes: readonly InstallmentChange[],
  occurredAt: Date,
): Promise<void> {
  for (const [type, moved] of Map.groupBy(changes, eventOfMove)) {
    if (type === null) continue;
    const keys = new Set(moved.map(({ after }) => rowKey({ date: after.date, status: statusOf(after) })));
    const rows = await releases.onDates(moved.map(({ after }) => after.date));
    for (const row of rows.filter((each) => keys.has(rowKey(each)))) {
      await tx.publish({ type, objectId: row.date, data: releaseEventData(row), occurredAt });
    }
  }
}

/** The event for an installment that moved to another row of its date; null when there is none. */
function eventOfMove({ before, after, splitFrom }: InstallmentChange): FundsEventType | null {
  const source = before ?? splitFrom;
  const from = source && statusOf(source);
  const to = statusOf(after);
  if (from === to) return null;
  if (to === 'BLOCKED') return 'funds.blocked.v1';
  if (from === 'BLOCKED') return 'funds.unblocked.v1';
  return to === 'RELEASED' ? 'funds.released.v1' : null;
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
