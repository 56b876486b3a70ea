import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { AdvanceRequestEntity, type AdvanceRequestRow } from './advance.entity.ts';

/** The merchant does not have this request in this environment. */
export const advanceRequestNotFound = () =>
  notFound('ADVANCE_REQUEST_NOT_FOUND', 'the advance request does not exist');

/** The request, locked until the transaction ends. NOT_FOUND (ADVANCE_REQUEST_NOT_FOUND). */
export async function lockRequest(tx: TenantTransaction, id: string): Promise<AdvanceRequestRow> {
  const row = await tx.lockOne(AdvanceRequestEntity, { id });
  if (row === null) throw advanceRequestNotFound();
  return row;
}

/** Stores changes of a request, and logs what has changed. */
export function storeChanges(
  tx: TenantTransaction,
  row: AdvanceRequestRow,
  changes: Partial<AdvanceRequestRow>,
): void {
  const was = row.status;
  const changed = Object.keys(changes);
  if (changed.length === 0) return;
  Object.assign(row, changes);
  const { id: advanceRequestId, status, payoutAttempts, payoutLastAnswer } = row;
  const logged = { advanceRequestId, status, payoutAttempts, payoutLastAnswer, was, changed };
  tx.logStep('an advance request has changed', logged);
}
