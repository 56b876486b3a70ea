import type { HandlerContext } from '@connectrpc/connect';
import type {
  ExpireMerchantReviewRequest,
  ExpireMerchantReviewResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import { lockRefundCase, storeChange } from '../refund-case-store.ts';
import { expireReview } from './refund-review.ts';

/** Expires a merchant's review whose deadline has passed without a decision. */
export function expireMerchantReview(
  writes: Writes,
  request: ExpireMerchantReviewRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof ExpireMerchantReviewResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, expireReview(row, at));
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
