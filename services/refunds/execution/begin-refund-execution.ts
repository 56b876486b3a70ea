import type { HandlerContext } from '@connectrpc/connect';
import type {
  BeginRefundExecutionRequest,
  BeginRefundExecutionResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockRefundCase, storeChange } from '../refund-case-store.ts';
import { beginExecution } from './refund-execution.ts';

/** Commits the start of an execution for its own workflow. */
export function beginRefundExecution(
  writes: Writes,
  request: BeginRefundExecutionRequest,
  context: HandlerContext,
) {
  return writes.run<typeof BeginRefundExecutionResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, beginExecution(row, request.execution, new Date()));
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
