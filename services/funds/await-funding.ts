import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  AwaitFundingRequest,
  AwaitFundingResponseSchema,
} from '../../proto/gen/payments/funds/v1/funds_pb.js';
import { occurredAtOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { RefundDebitEntity } from './funds.entity.ts';
import { FundsAccount } from './funds-account.ts';
import { coverOf } from './refund-coverage.ts';

/**
 * Has a refund wait for the balance. It looks at the balance again, under the lock that every change of it takes: what
 * came since the debit was refused is seen here, what comes later finds the refund waiting.
 */
export function awaitFunding(writes: Writes, request: AwaitFundingRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  const refundCaseId = request.refundCaseId.toLowerCase();
  const saleId = request.saleId?.toLowerCase();
  const { amountMinor, execution } = request;
  const requestedAt = request.requestedAt ? timestampDate(request.requestedAt) : at;
  return writes.run<typeof AwaitFundingResponseSchema>(request, context, async (tx) => {
    const account = await FundsAccount.lock(tx, at);
    if (await tx.findOne(RefundDebitEntity, { refundCaseId })) return { covered: true };
    const { availableMinor } = await coverOf(account, refundCaseId, saleId);
    if (amountMinor <= availableMinor) return { covered: true };
    await account.waiting.put({ refundCaseId, saleId: saleId ?? null, amountMinor, execution, requestedAt });
    return { covered: false };
  });
}
