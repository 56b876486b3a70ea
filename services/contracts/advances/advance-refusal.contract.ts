import { startWorkflow } from '../start-workflow.ts';
import type { AdvanceRequestKey } from './advance-request-key.ts';

export const workflowType = 'freeRefusedAdvance';

export const workflowId = (advanceRequestId: string) => `advance-refusal-${advanceRequestId}`;

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: AdvanceRequestKey) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
