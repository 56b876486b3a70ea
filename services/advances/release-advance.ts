import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReleaseAdvanceRequest,
  ReleaseAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advancePayout from '../contracts/advances/advance-payout.contract.ts';
import * as advanceRelease from '../contracts/advances/advance-release.contract.ts';
import { addDays, startOfDay } from '../platform/civil-date.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { callFor } from '../platform/rpc/call-context.ts';
import { tenantOf } from '../platform/tenant.ts';
import type { AdvanceRequestRow } from './advance.entity.ts';
import { publishEvent } from './advance.event.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { finishRelease, momentAt, startRelease } from './advance-request.ts';
import { lockRequest, storeChanges } from './advance-store.ts';
import { type Requester, requesterOf } from './requester.ts';
import { type AdvanceDependencies, reservationRequest } from './reservation-request.ts';

/**
 * APPROVED to RELEASED in three steps: commit the start of the payout, after which the request cannot be refused;
 * settle the reservation in funds; commit RELEASED. The first step starts a workflow that completes a release that
 * failed halfway, and settles the advance after its last covered date; the last step starts the workflow that submits
 * the payout to the provider.
 */
export async function releaseAdvance(
  { writes, funds }: AdvanceDependencies,
  request: ReleaseAdvanceRequest,
  context: HandlerContext,
) {
  const requester = requesterOf(request, context);
  const replayed = await writes.findReplay<typeof ReleaseAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { advanceRequestId } = request;
  const startedAt = await writes.transaction(tenantOf(request), context, (tx) =>
    start(tx, advanceRequestId, requester),
  );
  // The time of the decision: a payout delayed past midnight still belongs to its day, when the installments were not due.
  const reservation = reservationRequest({ ...request, occurredAt: timestampFromDate(startedAt) });
  await funds.settleReservation(reservation, callFor(context));
  return writes.run<typeof ReleaseAdvanceResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, advanceRequestId);
    if (isReleasedFor(row, requester.by)) return { advanceRequest: storedAdvanceRequestMessage(row) };
    storeChanges(tx, row, finishRelease(row));
    await publishEvent(tx, 'advance.released.v1', row, startedAt);
    await tx.command(advancePayout.startCommand({ ...tx.tenant, advanceRequestId: row.id }));
    return { advanceRequest: storedAdvanceRequestMessage(row) };
  });
}

async function start(tx: TenantTransaction, advanceRequestId: string, { at, by }: Requester): Promise<Date> {
  const row = await lockRequest(tx, advanceRequestId);
  if (isReleasedFor(row, by)) return row.releasedAt ?? at;
  const isStarted = row.releaseStartedAt !== null;
  const { releaseStartedAt } = startRelease(row, momentAt(at));
  row.releaseStartedBy ??= by;
  if (!isStarted) {
    storeChanges(tx, row, { releaseStartedAt });
    const settlesAt = startOfDay(addDays(row.lastDate, 1)).toISOString();
    await tx.command(advanceRelease.startCommand({ ...tx.tenant, advanceRequestId: row.id, settlesAt }));
  }
  return releaseStartedAt;
}

/** Whether the payout that this requester started has ended. */
function isReleasedFor(row: AdvanceRequestRow, by: string): boolean {
  return row.releasedAt !== null && row.releaseStartedBy === by;
}
