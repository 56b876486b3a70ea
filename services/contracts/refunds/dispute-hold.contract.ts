import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

const workflowType = 'holdDisputedFunds';
export const workflowId = (disputeId: string) => `dispute-hold-${disputeId}`;

export const endWorkflowType = 'endDisputeHold';
export const endWorkflowId = (disputeId: string) => `dispute-hold-end-${disputeId}`;

export interface DisputeHoldInput extends Tenant {
  readonly disputeId: string;
}

/** Holds the disputed amount in funds. */
export const startCommand = (input: DisputeHoldInput) =>
  startWorkflow(workflowType, workflowId(input.disputeId), input);

/**
 * Deducts more for a dispute that was lost without a sale, once a refund is returned or another dispute is reversed.
 */
export const raiseCommand = (input: DisputeHoldInput, causeId: string) =>
  startWorkflow(endWorkflowType, `${endWorkflowId(input.disputeId)}-${causeId}`, input);

const reversalWorkflowType = 'reverseLostDispute';
export const reversalWorkflowId = (disputeId: string) => `dispute-reversal-${disputeId}`;

/** Restores what was deducted for a lost dispute. */
export const reverseCommand = (input: DisputeHoldInput) =>
  startWorkflow(reversalWorkflowType, reversalWorkflowId(input.disputeId), input);

export const endCommand = (input: DisputeHoldInput) =>
  startWorkflow(endWorkflowType, endWorkflowId(input.disputeId), input);
