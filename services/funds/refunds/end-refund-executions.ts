import type { HandlerContext } from '@connectrpc/connect';
import type {
  EndRefundExecutionsRequest,
  EndRefundExecutionsResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AccountWrites } from '../account-writes.ts';
import { FundsAccount } from '../funds-account.ts';

/** Removes a refund's pending debit, and refuses later debits of its executions up to the given one. */
export function endRefundExecutions(
  writes: AccountWrites,
  request: EndRefundExecutionsRequest,
  context: HandlerContext,
) {
  const refundCaseId = request.refundCaseId.toLowerCase();
  return writes.run<typeof EndRefundExecutionsResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, new Date());
    await account.pendingDebits.endExecutions(refundCaseId, request.execution);
    tx.logStep('a refund can no longer be debited', { refundCaseId, execution: request.execution });
    return {};
  });
}
