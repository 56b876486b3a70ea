import type {
  CancelWorkflow,
  SignalWorkflow,
  StartWorkflow,
} from '../../platform/outbox/workflow-command.ts';
import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'retryDelivery';

export const workflowId = (deliveryId: string) => `delivery-${deliveryId}`;

/** For people, in the Temporal UI: makes the next attempt now, in place of waiting for its time. Takes no arguments. */
export const RETRY_NOW_SIGNAL = 'retryNow';

/**
 * For services, with a change after which the delivery is due earlier: asks PostgreSQL again when that is, in place of
 * waiting for the time named before. Takes no arguments.
 */
export const ASK_AGAIN_SIGNAL = 'askAgain';

export interface RetryDeliveryInput {
  readonly deliveryId: string;
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly subscriptionId: string;
  /** The request that caused the event. */
  readonly requestId: string;
  readonly eventType: string;
}

/** What the delivery had come to when there was nothing left to do: a name of DeliveryStatus. */
export type RetryDeliveryResult = 'SUCCEEDED' | 'HELD' | 'CANCELED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: RetryDeliveryInput): StartWorkflow => ({
  kind: 'START',
  workflowId: workflowId(input.deliveryId),
  workflowType,
  arguments: [input],
});

/** Has the workflow ask again when its delivery is due. */
export const askAgainCommand = (deliveryId: string): SignalWorkflow => ({
  kind: 'SIGNAL',
  workflowId: workflowId(deliveryId),
  signalName: ASK_AGAIN_SIGNAL,
  arguments: [],
});

/** Cancels the delivery's retries. */
export const cancelCommand = (deliveryId: string): CancelWorkflow => ({
  kind: 'CANCEL',
  workflowId: workflowId(deliveryId),
});
