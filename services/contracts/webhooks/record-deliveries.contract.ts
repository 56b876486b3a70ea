import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'recordDeliveries';

/**
 * One workflow for the deliveries that succeeded in one second in one process without a retry workflow, by environment:
 * `deliveries-2026-11-23T10:15:03Z-live-0f3a9c`. Ids are in the order of time.
 * @param owner the id of the process.
 */
export const workflowId = (at: Date, environment: EnvironmentName, owner: string) =>
  `deliveries-${at.toISOString().slice(0, 19)}Z-${environment}-${owner.slice(-6)}`;

export interface RecordDeliveriesInput {
  readonly workflowId: string;
  readonly environment: EnvironmentName;
}

/** A delivery that succeeded without a retry workflow. */
export interface DeliveryRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly subscriptionId: string;
  readonly requestId: string;
  readonly eventType: string;
  readonly httpStatus: number;
}

export interface RecordDeliveriesResult {
  readonly succeeded: number;
  readonly deliveries: readonly DeliveryRecord[];
}
