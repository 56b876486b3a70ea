import { startWorkflow } from '../start-workflow.ts';
import type { RefundCaseKey } from './refund-case-key.ts';

export const workflowType = 'reverseRefund';

export const workflowId = (refundCaseId: string) => `refund-reversal-${refundCaseId}`;

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: RefundCaseKey) =>
  startWorkflow(workflowType, workflowId(input.refundCaseId), input);
