import type { StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'releaseAdvance';

/** The call that starts the workflow normally completes the payout itself, much sooner. */
export const COMPLETE_AFTER = '20 seconds';

export const workflowId = (advanceRequestId: string) => `advance-release-${advanceRequestId}`;

export interface ReleaseAdvanceInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly advanceRequestId: string;
  /** When the last covered date has passed, in ISO 8601. */
  readonly settlesAt: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ReleaseAdvanceInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.advanceRequestId),
  workflowType,
  arguments: [input],
});
