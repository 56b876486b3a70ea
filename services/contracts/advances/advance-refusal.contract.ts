import type { EnvironmentName } from '../../platform/tenant.ts';

export const workflowType = 'freeRefusedAdvance';

export const workflowId = (advanceRequestId: string) => `advance-refusal-${advanceRequestId}`;

export interface FreeRefusedAdvanceInput {
  readonly merchantId: string;
  readonly environment: EnvironmentName;
  readonly advanceRequestId: string;
}
