import type { HandlerContext } from '@connectrpc/connect';
import type {
  SettleAdvanceRequest,
  SettleAdvanceResponseSchema,
} from '../../proto/gen/payments/advances/v1/advances_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { publishEvent } from './advance.event.ts';
import { storedAdvanceRequestMessage } from './advance.message.ts';
import { momentAt, settle } from './advance-request.ts';
import { lockRequest, storeChanges } from './advance-store.ts';

/** RELEASED to SETTLED. */
export function settleAdvance(writes: Writes, request: SettleAdvanceRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof SettleAdvanceResponseSchema>(request, context, async (tx) => {
    const row = await lockRequest(tx, request.advanceRequestId);
    storeChanges(tx, row, settle(row, momentAt(at)));
    await publishEvent(tx, 'advance.settled.v1', row, at);
    return { advanceRequest: storedAdvanceRequestMessage(row) };
  });
}
