import { startWorkflow } from '../start-workflow.ts';
import type { RefundCaseKey } from './refund-case-key.ts';

export const workflowType = 'holdRefundFunds';
export const workflowId = (refundCaseId: string) => `refund-hold-${refundCaseId}`;

export const endWorkflowType = 'endRefundHold';
export const endWorkflowId = (refundCaseId: string) => `refund-hold-end-${refundCaseId}`;

/** The outcome of a hold: ENDED when the case or dispute is closed or names no sale. */
export type HoldResult = 'HELD' | 'ENDED';

/** Holds the refund in funds. */
export const startCommand = (input: RefundCaseKey) =>
  startWorkflow(workflowType, workflowId(input.refundCaseId), input);

/** Ends the hold. */
export const endCommand = (input: RefundCaseKey) =>
  startWorkflow(endWorkflowType, endWorkflowId(input.refundCaseId), input);
