import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'recordDeliveries';

/** The longest period of deliveries that one workflow shows. */
export const PERIOD_MS = 5_000;
/** A workflow with more deliveries is not searchable by them, because a search attribute holds 2 KiB. */
export const MAX_SEARCHABLE = 40;
/** Temporal accepts results of up to 2 MiB. */
export const MAX_RECORDS = 4_000;

/**
 * One workflow for the deliveries that succeeded in some seconds in one process without a retry workflow, by
 * environment: `deliveries-2026-11-23T10:15:03Z-live-0f3a9c`. Ids sort by time.
 * @param at the start of its period.
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
