import type { CancelWorkflow, SignalWorkflow } from '../../platform/outbox/workflow-command.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'retryDelivery';

export const workflowId = (deliveryId: string) => `delivery-${deliveryId}`;

/** For people, in the Temporal UI: makes the next attempt now. Takes no arguments. */
export const RETRY_NOW_SIGNAL = 'retryNow';

/**
 * For services, after a change that makes the delivery due earlier: reads the time of the next attempt from PostgreSQL
 * again. Takes no arguments.
 */
export const RECHECK_SIGNAL = 'recheck';

export interface RetryDeliveryInput extends Tenant {
  readonly deliveryId: string;
  readonly subscriptionId: string;
  /** The request that caused the event. */
  readonly requestId: string;
  readonly eventType: string;
}

/** The delivery's status, a name of DeliveryStatus, when the workflow has nothing left to do. */
export type RetryDeliveryResult = 'SUCCEEDED' | 'HELD' | 'CANCELED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: RetryDeliveryInput) =>
  startWorkflow(workflowType, workflowId(input.deliveryId), input);

/** Makes the workflow read again when its delivery is due. */
export const recheckCommand = (deliveryId: string): SignalWorkflow => ({
  kind: 'SIGNAL',
  workflowId: workflowId(deliveryId),
  signalName: RECHECK_SIGNAL,
  arguments: [],
});

/** Cancels the delivery's retries. */
export const cancelCommand = (deliveryId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(deliveryId),
});
