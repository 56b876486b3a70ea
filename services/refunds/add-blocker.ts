import type { HandlerContext } from '@connectrpc/connect';
import type {
  AddBlockerRequest,
  AddBlockerResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { addBlockerToCase } from './execution/refund-execution.ts';
import { manualBlockerOf, storedRefundCaseMessage } from './refund-case.message.ts';
import { lockRefundCase, storeChange } from './refund-case-store.ts';

/** Adds a blocker set by another team to an open case. */
export function addBlocker(writes: Writes, request: AddBlockerRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof AddBlockerResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, addBlockerToCase(row, manualBlockerOf(request.blocker), at));
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
