import { startWorkflow } from '../start-workflow.ts';
import type { AdvanceRequestKey } from './advance-request-key.ts';

export const workflowType = 'releaseAdvance';

/** The call that starts the workflow normally completes the payout itself, much sooner. */
export const COMPLETE_AFTER = '20 seconds';

export const workflowId = (advanceRequestId: string) => `advance-release-${advanceRequestId}`;

export interface ReleaseAdvanceInput extends AdvanceRequestKey {
  /** When the last covered date has passed, in ISO 8601. */
  readonly settlesAt: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ReleaseAdvanceInput) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
