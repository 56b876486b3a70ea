import type { HandlerContext } from '@connectrpc/connect';
import {
  ApprovalMode,
  ReviewDecision,
  type ReviewRefundCaseRequest,
  type ReviewRefundCaseResponseSchema,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { notifyOfOutcome } from '../../contracts/accounts/notify-contact.contract.ts';
import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { occurredAtOf } from '../../platform/rpc/occurred-at.ts';
import { unblockCovered } from '../disputes/unblock-covered.ts';
import { unblockDisputed } from '../execution/refund-execution.ts';
import { unclaimedMinor } from '../payments/payment-amounts.ts';
import type { PaymentRow, RefundCaseRow } from '../refund-case.entity.ts';
import { storedRefundCaseMessage } from '../refund-case.message.ts';
import {
  executeIfApproved,
  lockPaymentOf,
  lockRefundCase,
  paymentUseOf,
  storeChange,
} from '../refund-case-store.ts';
import type { DecisionDependencies } from './decide-refund-case.ts';
import { approveInReview, rejectInReview } from './refund-review.ts';

/** Records the decision of operations or risk policy in SERVICE_REVIEW. */
export function reviewRefundCase(
  { writes, execution }: Omit<DecisionDependencies, 'limits'>,
  request: ReviewRefundCaseRequest,
  context: HandlerContext,
) {
  const at = occurredAtOf(request, context);
  const reviewer = request.approvalMode === ApprovalMode.OPERATIONS ? 'OPERATIONS' : 'RISK_POLICY';
  const decide = request.decision === ReviewDecision.APPROVE ? approveInReview : rejectInReview;
  return writes.run<typeof ReviewRefundCaseResponseSchema>(request, context, async (tx) => {
    const payment = await lockPaymentOf(tx, request.refundCaseId);
    const row = await lockRefundCase(tx, request.refundCaseId);
    if (request.decision === ReviewDecision.APPROVE) await unblockIfCovered(tx, payment, row, at);
    await storeChange(tx, row, decide(row, reviewer, at));
    await executeIfApproved(tx, row, execution);
    if (row.status === 'REJECTED') await unblockCovered(tx, payment, at);
    // A merchant that approved the refund, or let the deadline pass, only needs to know of a rejection.
    if (row.status === 'REJECTED' || row.merchantDecision === 'CONTESTED') {
      await notifyOfOutcome(tx, { kind: 'REFUND_REVIEWED', subjectId: row.id }, row.updatedAt);
    }
    return { refundCase: storedRefundCaseMessage(row) };
  });
}

/** Unblocks a case in review if lost disputes and other refunds leave enough of its payment. */
async function unblockIfCovered(
  tx: TenantTransaction,
  { id, paidAmountMinor }: PaymentRow,
  row: RefundCaseRow,
  at: Date,
): Promise<void> {
  const isBlocked = row.status === 'SERVICE_REVIEW' && row.blockedBy.includes('PAYMENT_DISPUTED');
  if (isBlocked && row.amountMinor <= unclaimedMinor(paidAmountMinor!, await paymentUseOf(tx, id))) {
    await storeChange(tx, row, unblockDisputed(row, at));
  }
}
