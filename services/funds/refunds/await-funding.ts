import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  AwaitFundingRequest,
  AwaitFundingResponseSchema,
} from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { AccountWrites } from '../account-writes.ts';
import { RefundDebitEntity } from '../funds.entity.ts';
import { FundsAccount } from '../funds-account.ts';
import { coverageFor } from './refund-coverage.ts';

/**
 * Records that a refund awaits funding. Checks the balance again under the account's lock: a rise since the refused
 * debit is found here, and a later rise finds the pending debit.
 */
export function awaitFunding(writes: AccountWrites, request: AwaitFundingRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  const refundCaseId = request.refundCaseId.toLowerCase();
  const saleId = request.saleId?.toLowerCase();
  const { amountMinor, execution } = request;
  const requestedAt = request.requestedAt ? timestampDate(request.requestedAt) : at;
  return writes.run<typeof AwaitFundingResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, at);
    if (await tx.findOne(RefundDebitEntity, { refundCaseId })) return { covered: true };
    if (await account.pendingDebits.isWaiting(refundCaseId, execution)) return { covered: false };
    await account.pendingDebits.requireLive(refundCaseId, execution);
    const { availableMinor } = await coverageFor(account, refundCaseId, saleId);
    if (amountMinor <= availableMinor) return { covered: true };
    const debit = { refundCaseId, saleId: saleId ?? null, amountMinor, execution, requestedAt };
    await account.pendingDebits.put(debit);
    tx.logStep('a refund awaits funding', {
      refundCaseId,
      execution,
      amountMinor: String(amountMinor),
      availableMinor: String(availableMinor),
    });
    return { covered: false };
  });
}
