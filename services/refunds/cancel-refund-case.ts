import type { HandlerContext } from '@connectrpc/connect';
import type {
  CancelRefundCaseRequest,
  CancelRefundCaseResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../contracts/accounts/notify-contact.contract.ts';
import * as merchantReview from '../contracts/refunds/merchant-review.contract.ts';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { awaitsVerification } from './blocked-notice.ts';
import { unblockCovered } from './disputes/unblock-covered.ts';
import { storedRefundCaseMessage } from './refund-case.message.ts';
import { lockPaymentOf, lockRefundCase, storeChange } from './refund-case-store.ts';
import { cancelCase } from './review/refund-review.ts';

/** Cancels a case whose execution has not started. The amount that it frees may unblock other cases of the payment. */
export function cancelRefundCase(writes: Writes, request: CancelRefundCaseRequest, context: HandlerContext) {
  const at = occurredAtOf(request, context);
  return writes.run<typeof CancelRefundCaseResponseSchema>(request, context, async (tx) => {
    const payment = await lockPaymentOf(tx, request.refundCaseId);
    const row = await lockRefundCase(tx, request.refundCaseId);
    const { status, executions } = row;
    // Every execution has ended by waiting for the balance, perhaps before a dispute returned the case to review.
    const wasMailedAbout = executions > 0 || awaitsVerification(row);
    await storeChange(tx, row, cancelCase(row, at));
    if (status === 'MERCHANT_REVIEW') await tx.command(merchantReview.cancelCommand(row.id));
    await unblockCovered(tx, payment, at);
    // The person who contested it expects a review; those who read that it waits expect its execution.
    if (row.merchantDecision === 'CONTESTED' || wasMailedAbout)
      await notifyOfOutcome(tx, { kind: 'REFUND_REVIEWED', subjectId: row.id }, row.updatedAt);
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
