import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'holdDisputedFunds';
export const workflowId = (disputeId: string) => `dispute-hold-${disputeId}`;

export const endWorkflowType = 'endDisputeHold';
export const endWorkflowId = (disputeId: string) => `dispute-hold-end-${disputeId}`;

export interface DisputeHoldInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly disputeId: string;
}
