import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'reverseRefund';

export const workflowId = (refundCaseId: string) => `refund-reversal-${refundCaseId}`;

export interface ReverseRefundInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly refundCaseId: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ReverseRefundInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.refundCaseId),
  workflowType,
  arguments: [input],
});
