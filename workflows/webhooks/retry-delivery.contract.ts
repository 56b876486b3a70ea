import type { EnvironmentName } from '../../services/platform/tenant.ts';

export const workflowType = 'retryDelivery';

export const workflowId = (deliveryId: string) => `delivery-${deliveryId}`;

/** Asks PostgreSQL again at once, in place of waiting for the time named before. Takes no arguments. */
export const RETRY_NOW_SIGNAL = 'retryNow';

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
