import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'completeAdvanceRequest';

/** The call that starts the workflow normally completes the request itself, much sooner. */
export const COMPLETE_AFTER = '20 seconds';

export const workflowId = (advanceRequestId: string) => `advance-request-${advanceRequestId}`;

export interface CompleteAdvanceRequestInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly quoteId: string;
  readonly advanceRequestId: string;
}

/** REQUESTED: the request exists. REFUSED: it never will, and nothing is reserved. */
export type CompleteAdvanceRequestResult = 'REQUESTED' | 'REFUSED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: CompleteAdvanceRequestInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.advanceRequestId),
  workflowType,
  arguments: [input],
});
