import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'holdRefundFunds';
export const workflowId = (refundCaseId: string) => `refund-hold-${refundCaseId}`;

export const endWorkflowType = 'endRefundHold';
export const endWorkflowId = (refundCaseId: string) => `refund-hold-end-${refundCaseId}`;

export interface RefundHoldInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}

/**
 * The outcome of a hold: ENDED when the case or dispute is closed or names no sale, SALE_NOT_FOUND when funds has no such
 * sale.
 */
export type HoldResult = 'HELD' | 'ENDED' | 'SALE_NOT_FOUND';

/** Holds the refund in funds. */
export const startCommand = (input: RefundHoldInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.refundCaseId),
  workflowType,
  arguments: [input],
});

/** Ends the hold. */
export const endCommand = (input: RefundHoldInput): StartWorkflow => ({
  kind: 'START',
  workflowId: endWorkflowId(input.refundCaseId),
  workflowType: endWorkflowType,
  arguments: [input],
});
