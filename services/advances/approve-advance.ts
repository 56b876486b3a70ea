import type { HandlerContext } from '@connectrpc/connect';
import type {
  ApproveAdvanceRequest,
  ApproveAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { publishEvent } from './advance.event.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { approve, momentAt } from './advance-request.ts';
import { lockRequest, storeChanges } from './advance-store.ts';

/** PENDING_REVIEW to APPROVED. */
export function approveAdvance(writes: Writes, request: ApproveAdvanceRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof ApproveAdvanceResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, request.advanceRequestId);
    storeChanges(tx, row, approve(row, momentAt(at), request.reason ?? null));
    await publishEvent(tx, 'advance.approved.v1', row, row.reviewedAt ?? at);
    return { advanceRequest: storedAdvanceRequestMessage(row) };
  });
}
