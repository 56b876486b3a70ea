import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { AdvanceRequestEntity, type AdvanceRequestRow } from './advance.entity.ts';
import { advanceEventData } from './advance.event.ts';

export type AdvanceEventType =
  | 'advance.requested.v1'
  | 'advance.approved.v1'
  | 'advance.refused.v1'
  | 'advance.released.v1'
  | 'advance.settled.v1';

/** The merchant does not have this request in this environment. */
export const advanceRequestNotFound = () =>
  notFound('ADVANCE_REQUEST_NOT_FOUND', 'the advance request does not exist');

/** The request, locked until the transaction ends. NOT_FOUND (ADVANCE_REQUEST_NOT_FOUND). */
export async function lockRequest(tx: TenantTransaction, id: string): Promise<AdvanceRequestRow> {
  const row = await tx.lockOne(AdvanceRequestEntity, { id });
  if (row === null) throw advanceRequestNotFound();
  return row;
}

/** Publishes an event with the request in its current state. */
export async function publishEvent(
  tx: TenantTransaction,
  type: AdvanceEventType,
  row: AdvanceRequestRow,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: row.id, data: advanceEventData(row), occurredAt });
}
