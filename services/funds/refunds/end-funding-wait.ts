import type { HandlerContext } from '@connectrpc/connect';
import type {
  EndFundingWaitRequest,
  EndFundingWaitResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { AccountWrites } from '../account-writes.ts';
import { FundsAccount } from '../funds-account.ts';

/** Removes a refund's pending debit. */
export function endFundingWait(
  writes: AccountWrites,
  request: EndFundingWaitRequest,
  context: HandlerContext,
) {
  const refundCaseId = request.refundCaseId.toLowerCase();
  return writes.run<typeof EndFundingWaitResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, new Date());
    await account.pendingDebits.remove(refundCaseId, request.execution);
    return {};
  });
}
