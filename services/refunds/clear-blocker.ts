import type { HandlerContext } from '@connectrpc/connect';
import type {
  ClearBlockerRequest,
  ClearBlockerResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurrenceOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes.ts';
import { manualBlockerOf, refundCaseMessageOf } from './refund-case.message.ts';
import { lockRefundCase, storeChange } from './refund-case-store.ts';
import { clearBlocker } from './refund-execution.ts';

/** Clears a blocker of another team. */
export function clearBlockerOfCase(writes: Writes, request: ClearBlockerRequest, context: HandlerContext) {
  const at = occurrenceOf(request, context);
  return writes.run<typeof ClearBlockerResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, clearBlocker(row, manualBlockerOf(request.blocker), at));
    return { refundCase: refundCaseMessageOf(row) };
  });
}
