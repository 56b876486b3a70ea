import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'reverseRefund';

export const workflowId = (refundCaseId: string) => `refund-reversal-${refundCaseId}`;

export interface ReverseRefundInput extends Tenant {
  readonly refundCaseId: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ReverseRefundInput) =>
  startWorkflow(workflowType, workflowId(input.refundCaseId), input);
