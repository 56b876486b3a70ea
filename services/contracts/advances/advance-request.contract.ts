import { startWorkflow } from '../start-workflow.ts';
import type { AdvanceRequestKey } from './advance-request-key.ts';

export const workflowType = 'completeAdvanceRequest';

/** The call that starts the workflow normally completes the request itself, much sooner. */
export const COMPLETE_AFTER = '20 seconds';

export const workflowId = (advanceRequestId: string) => `advance-request-${advanceRequestId}`;

export interface CompleteAdvanceRequestInput extends AdvanceRequestKey {
  readonly quoteId: string;
}

/** REQUESTED: the request exists. REFUSED: it never will, and nothing is reserved. */
export type CompleteAdvanceRequestResult = 'REQUESTED' | 'REFUSED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: CompleteAdvanceRequestInput) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
