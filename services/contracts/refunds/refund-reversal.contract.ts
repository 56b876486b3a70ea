import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'reverseRefund';

export const workflowId = (refundCaseId: string) => `refund-reversal-${refundCaseId}`;

export interface ReverseRefundInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}
