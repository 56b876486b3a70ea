import type { CancelWorkflow } from '../../platform/outbox/workflow-command.ts';
import { startWorkflow } from '../start-workflow.ts';
import type { RefundCaseKey } from './refund-case-key.ts';

const workflowType = 'awaitMerchantReview';

export const workflowId = (refundCaseId: string) => `merchant-review-${refundCaseId}`;

/** EXPIRED by the deadline, or ENDED before it. */
export type AwaitMerchantReviewResult = 'EXPIRED' | 'ENDED';

/** Starts the timer of the merchant's deadline. */
export const startCommand = (input: RefundCaseKey) =>
  startWorkflow(workflowType, workflowId(input.refundCaseId), input);

/** Stops the timer: the case has left MERCHANT_REVIEW. */
export const cancelCommand = (refundCaseId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(refundCaseId),
});
