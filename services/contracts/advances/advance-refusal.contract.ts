import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'freeRefusedAdvance';

export const workflowId = (advanceRequestId: string) => `advance-refusal-${advanceRequestId}`;

export interface FreeRefusedAdvanceInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly advanceRequestId: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: FreeRefusedAdvanceInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.advanceRequestId),
  workflowType,
  arguments: [input],
});
