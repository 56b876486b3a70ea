import type { CancelWorkflow, StartWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'resendDeliveries';

export const workflowId = (resendId: string) => `resend-${resendId}`;

/** Open deliveries of one resend: half of what a subscription may have in flight, so that live events have capacity too. */
export const MAX_OPEN = 100;

export interface ResendDeliveriesInput {
  readonly resendId: string;
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** Set when it is for one subscription. */
  readonly subscriptionId?: string;
}

/** How the resend ended, and the number of its deliveries by outcome. */
export interface ResendDeliveriesResult {
  readonly state: 'COMPLETED' | 'CANCELED';
  readonly made: number;
  readonly succeeded: number;
  readonly exhausted: number;
  readonly canceled: number;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: ResendDeliveriesInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.resendId),
  workflowType,
  arguments: [input],
});

/** Cancels the resend's workflow; what is delivered by then stays delivered. */
export const cancelCommand = (resendId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(resendId),
});
