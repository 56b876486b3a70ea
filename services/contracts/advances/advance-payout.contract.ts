import type { Tenant } from '../../platform/tenant.ts';
import { startWorkflow } from '../start-workflow.ts';

export const workflowType = 'payOutAdvance';

export const workflowId = (advanceRequestId: string) => `advance-payout-${advanceRequestId}`;

export interface PayOutAdvanceInput extends Tenant {
  readonly advanceRequestId: string;
}

/** How a payout ended. NO_PROVIDER: none is set, so payouts are made elsewhere. RETURNED: by the bank, once it was accepted. */
export type PayoutResult = 'ACCEPTED' | 'NO_PROVIDER' | 'RETURNED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: PayOutAdvanceInput) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
