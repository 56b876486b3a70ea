import type { HandlerContext } from '@connectrpc/connect';
import {
  ApprovalMode,
  ReviewDecision,
  type ReviewRefundCaseRequest,
  type ReviewRefundCaseResponseSchema,
} from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { occurredAtOf } from '../platform/rpc/occurred-at.ts';
import type { Writes } from '../platform/writes/writes.ts';
import { storedRefundCaseMessage } from './refund-case.message.ts';
import {
  executeIfApproved,
  lockRefundCase,
  type RefundExecutionMode,
  storeChange,
} from './refund-case-store.ts';
import { approveInReview, rejectInReview } from './refund-review.ts';

/** Records the decision of operations or risk policy in SERVICE_REVIEW. */
export function reviewRefundCase(
  writes: Writes,
  execution: RefundExecutionMode,
  request: ReviewRefundCaseRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const reviewer = request.approvalMode === ApprovalMode.OPERATIONS ? 'OPERATIONS' : 'RISK_POLICY';
  const decide = request.decision === ReviewDecision.APPROVE ? approveInReview : rejectInReview;
  return writes.run<typeof ReviewRefundCaseResponseSchema>(request, context, async (tx) => {
    const row = await lockRefundCase(tx, request.refundCaseId);
    await storeChange(tx, row, decide(row, reviewer, at));
    await executeIfApproved(tx, row, execution);
    return { refundCase: storedRefundCaseMessage(row) };
  });
}
