import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  ReleaseAdvanceRequest,
  ReleaseAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import * as advanceRelease from '../contracts/advances/advance-release.contract.ts';
import { addDays, civilDateAt, startOfDay } from '../platform/civil-date.ts';
import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { requestIdOf } from '../platform/rpc/call-context.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import { tenantOf } from '../platform/tenant.ts';
import type { AdvanceRequestRow } from './advance.entity.ts';
import { advanceRequestMessageOf } from './advance.message.ts';
import { finishRelease, startRelease } from './advance-request.ts';
import { lockRequest, publishEvent, requestOf, storeDecision } from './advance-store.ts';
import { type AdvanceDependencies, newFundsKey, onBehalfOf } from './funds-client.ts';
import { type Requester, requesterOf } from './requester.ts';

/**
 * APPROVED to RELEASED in three steps: commit that the payout has started, after which it cannot be refused; settle
 * the reservation in funds; commit RELEASED. The workflow that the first step starts completes a payout left half
 * done, and settles the advance when its last covered date has passed.
 */
export async function releaseAdvance(
  { writes, funds }: AdvanceDependencies,
  request: ReleaseAdvanceRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const replayed = await writes.findReplay<typeof ReleaseAdvanceResponseSchema>(request, context);
  if (replayed) return replayed;
  const { merchantId, environment, advanceRequestId } = request;
  const by = requesterOf(request, context);
  const startedAt = await writes.transaction(tenantOf(request), requestIdOf(context), (tx) =>
    start(tx, advanceRequestId, { at, by }),
  );
  // Of the day it was decided: a payout that midnight overtakes is still that day's, and its installments are still reserved.
  const occurredAt = timestampFromDate(startedAt);
  const settling = { merchantId, environment, advanceRequestId, occurredAt, idempotencyKey: newFundsKey() };
  await funds.settleReservation(settling, onBehalfOf(context));
  return writes.run<typeof ReleaseAdvanceResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, advanceRequestId);
    if (isReleasedFor(row, by)) return { advanceRequest: advanceRequestMessageOf(row) };
    storeDecision(row, finishRelease(requestOf(row)));
    await publishEvent(tx, 'advance.released.v1', row, startedAt);
    return { advanceRequest: advanceRequestMessageOf(row) };
  });
}

async function start(tx: TenantTransaction, advanceRequestId: string, { at, by }: Requester): Promise<Date> {
  const row = await lockRequest(tx, advanceRequestId);
  if (isReleasedFor(row, by)) return row.releasedAt ?? at;
  const moment = { at, today: civilDateAt(at) };
  storeDecision(row, startRelease(requestOf(row), moment));
  row.releaseStartedBy ??= by;
  const settlesAt = startOfDay(addDays(row.lastDate, 1)).toISOString();
  await tx.command(advanceRelease.startCommand({ ...tx.tenant, advanceRequestId: row.id, settlesAt }));
  return row.releaseStartedAt ?? at;
}

/** Whether the payout that an asker started has come to its end. */
function isReleasedFor(row: AdvanceRequestRow, by: string): boolean {
  return row.releasedAt != null && row.releaseStartedBy === by;
}
