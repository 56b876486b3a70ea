import type { CancelWorkflow, StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

const workflowType = 'awaitMerchantReview';

export const workflowId = (refundCaseId: string) => `merchant-review-${refundCaseId}`;

export interface AwaitMerchantReviewInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}

/** EXPIRED by the deadline, or ENDED before it. */
export type AwaitMerchantReviewResult = 'EXPIRED' | 'ENDED';

/** Starts the timer of the merchant's deadline. */
export const startCommand = (input: AwaitMerchantReviewInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.refundCaseId),
  workflowType,
  arguments: [input],
});

/** Stops the timer: the case has left MERCHANT_REVIEW. */
export const cancelCommand = (refundCaseId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(refundCaseId),
});
