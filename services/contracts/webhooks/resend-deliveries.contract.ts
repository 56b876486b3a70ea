import type { CancelWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'resendDeliveries';

export const workflowId = (resendId: string) => `resend-${resendId}`;

/**
 * The maximum number of deliveries that wait to be sent, of one resend and of all resends of a subscription together:
 * half of what a subscription may have in memory, so that live events have capacity too.
 */
export const MAX_WAITING = 100;

export interface ResendDeliveriesInput extends Tenant {
  readonly resendId: string;
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
export const startCommand = (input: ResendDeliveriesInput) =>
  startWorkflow(workflowType, workflowId(input.resendId), input);

/** Cancels the resend's workflow. Does not undo deliveries. */
export const cancelCommand = (resendId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(resendId),
});
