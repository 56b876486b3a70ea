import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'freeRefusedAdvance';

export const workflowId = (advanceRequestId: string) => `advance-refusal-${advanceRequestId}`;

export interface FreeRefusedAdvanceInput extends Tenant {
  readonly advanceRequestId: string;
}

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: FreeRefusedAdvanceInput) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
