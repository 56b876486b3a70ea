import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

const workflowType = 'holdDisputedFunds';
export const workflowId = (disputeId: string) => `dispute-hold-${disputeId}`;

export const endWorkflowType = 'endDisputeHold';
export const endWorkflowId = (disputeId: string) => `dispute-hold-end-${disputeId}`;

export interface DisputeHoldInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly disputeId: string;
}

/** Holds the disputed amount in funds. */
export const startCommand = (input: DisputeHoldInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.disputeId),
  workflowType,
  arguments: [input],
});

/** Ends the hold. */
export const endCommand = (input: DisputeHoldInput): StartWorkflow => ({
  kind: 'START',
  workflowId: endWorkflowId(input.disputeId),
  workflowType: endWorkflowType,
  arguments: [input],
});
