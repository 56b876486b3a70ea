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
 * Has a dispute that was lost without a sale deducted again: a refund was returned since, or another dispute reversed, so it takes
 * more.
 */
export const raiseCommand = (input: DisputeHoldInput, causeId: string) =>
  startWorkflow(endWorkflowType, `${endWorkflowId(input.disputeId)}-${causeId}`, input);

const reversalWorkflowType = 'reverseLostDispute';
export const reversalWorkflowId = (disputeId: string) => `dispute-reversal-${disputeId}`;

/** Has what a lost dispute took restored. */
export const reverseCommand = (input: DisputeHoldInput) =>
  startWorkflow(reversalWorkflowType, reversalWorkflowId(input.disputeId), input);

/** Ends the hold. */
export const endCommand = (input: DisputeHoldInput) =>
  startWorkflow(endWorkflowType, endWorkflowId(input.disputeId), input);
