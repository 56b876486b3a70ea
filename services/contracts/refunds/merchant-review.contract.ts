import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'awaitMerchantReview';

export const workflowId = (refundCaseId: string) => `merchant-review-${refundCaseId}`;

export interface AwaitMerchantReviewInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}

/** EXPIRED by the deadline, or ENDED before it. */
export type AwaitMerchantReviewResult = 'EXPIRED' | 'ENDED';
