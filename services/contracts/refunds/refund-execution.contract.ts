import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'executeRefund';

/** Each execution of a case has a workflow of its own: a new one never meets the end of the one before. */
export const workflowId = (refundCaseId: string, execution: number) =>
  execution === 1 ? `refund-${refundCaseId}` : `refund-${refundCaseId}-${execution}`;

export interface ExecuteRefundInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
  /** Which execution of the case this is, from 1. */
  readonly execution: number;
}

/** What the execution came to; ENDED when it was over before this run. */
export type ExecuteRefundResult = 'PROCESSING' | 'FUNDING_REQUIRED' | 'ENDED';
