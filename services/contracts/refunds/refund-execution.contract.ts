import { startWorkflow } from '../start-workflow.ts';
import type { RefundCaseKey } from './refund-case-key.ts';

export const workflowType = 'executeRefund';

/** Each execution of a case has its own workflow, so a new one cannot collide with the end of the previous one. */
export const workflowId = (refundCaseId: string, execution: number) =>
  execution === 1 ? `refund-${refundCaseId}` : `refund-${refundCaseId}-${execution}`;

export interface ExecuteRefundInput extends RefundCaseKey {
  /** The number of this execution of the case, from 1. */
  readonly execution: number;
}

/** The outcome of the execution; ENDED when it was over before this run. */
export type ExecuteRefundResult = 'PROCESSING' | 'FUNDING_REQUIRED' | 'ENDED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ExecuteRefundInput) =>
  startWorkflow(workflowType, workflowId(input.refundCaseId, input.execution), input);
