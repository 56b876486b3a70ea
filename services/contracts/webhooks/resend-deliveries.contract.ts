import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'resendDeliveries';

export const workflowId = (resendId: string) => `resend-${resendId}`;

/** Of one resend at a time: half of what a subscription may have under way, so that live events find room. */
export const MAX_OPEN = 100;

export interface ResendDeliveriesInput {
  readonly resendId: string;
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  /** Where it is for one subscription. */
  readonly subscriptionId?: string;
}

/** What the resend has come to, and how its deliveries have ended. */
export interface ResendDeliveriesResult {
  readonly state: 'COMPLETED' | 'CANCELED';
  readonly made: number;
  readonly succeeded: number;
  readonly exhausted: number;
  readonly canceled: number;
}
