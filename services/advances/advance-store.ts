import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { failedPrecondition, notFound } from '../platform/errors.ts';
import { AdvanceRequestEntity, type AdvanceRequestRow } from './advance.entity.ts';
import { advanceEventData } from './advance.event.ts';
import { type AdvanceRequest, isRefusal, type Refusal } from './advance-request.ts';

export type AdvanceEventType =
  | 'advance.requested.v1'
  | 'advance.approved.v1'
  | 'advance.refused.v1'
  | 'advance.released.v1'
  | 'advance.settled.v1';

/** What every RPC answers for a request that this merchant does not have in this environment. */
export const advanceRequestNotFound = () =>
  notFound('ADVANCE_REQUEST_NOT_FOUND', 'there is no such advance request');

/** The request, locked until the transaction ends: whoever comes second meets the state the first has left. */
export async function lockRequest(tx: TenantTransaction, id: string): Promise<AdvanceRequestRow> {
  const row = await tx.lockOne(AdvanceRequestEntity, { id });
  if (row === null) throw advanceRequestNotFound();
  return row;
}

/** What the rules act on, of a stored request. */
export function requestOf(row: AdvanceRequestRow): AdvanceRequest {
  return {
    status: row.status,
    requestedAt: row.requestedAt,
    reviewedAt: row.reviewedAt ?? null,
    reviewReason: row.reviewReason ?? null,
    releaseStartedAt: row.releaseStartedAt ?? null,
    releasedAt: row.releasedAt ?? null,
    firstDate: row.firstDate,
    lastDate: row.lastDate,
  };
}

/** Stores what the rules decided, or refuses what they refused. FAILED_PRECONDITION with the rule's reason. */
export function storeDecision(row: AdvanceRequestRow, decision: AdvanceRequest | Refusal): void {
  if (isRefusal(decision)) throw refusalError(decision);
  Object.assign(row, decision);
}

/** Publishes an event of a request, with the request as it now stands. */
export async function publishEvent(
  tx: TenantTransaction,
  type: AdvanceEventType,
  row: AdvanceRequestRow,
  occurredAt: Date,
): Promise<void> {
  await tx.publish({ type, objectId: row.id, data: advanceEventData(row), occurredAt });
}

function refusalError({ refused, metadata }: Refusal) {
  switch (refused) {
    case 'ADVANCE_REQUEST_STATE':
      return failedPrecondition(refused, `the request is ${metadata.status}`, metadata);
    case 'COVERED_PART_DUE':
      return failedPrecondition(refused, 'the date of a covered installment has come', metadata);
    case 'ADVANCE_NOT_DUE':
      return failedPrecondition(refused, 'the last covered date has not passed', metadata);
    default:
      return refused satisfies never;
  }
}
