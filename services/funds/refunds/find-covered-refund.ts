import type { HandlerContext } from '@connectrpc/connect';
import type {
  FindCoveredRefundRequest,
  FindCoveredRefundResponse,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { tenantOf } from '../../platform/tenant.ts';
import type { AccountWrites } from '../account-writes.ts';
import { FundsAccount } from '../funds-account.ts';

/** The oldest pending refund that the balance covers, read under the account's lock for a consistent balance. */
export async function findCoveredRefund(
  writes: AccountWrites,
  request: FindCoveredRefundRequest,
  context: HandlerContext,
): Promise<FindCoveredRefundResponse> {
  const covered = await writes.transaction(tenantOf(request), context, async (tx) => {
    const account = await FundsAccount.lock(tx, new Date());
    return account.pendingDebits.oldestCovered(await account.availableMinor());
  });
  return { $typeName: 'payments.funds.v1.FindCoveredRefundResponse', execution: 0, ...covered };
}
