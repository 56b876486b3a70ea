import { startWorkflow } from '../start-workflow.ts';
import type { AdvanceRequestKey } from './advance-request-key.ts';

export const workflowType = 'payOutAdvance';

export const workflowId = (advanceRequestId: string) => `advance-payout-${advanceRequestId}`;

/** How a payout ended. NO_PROVIDER: none is set, so payouts are made elsewhere. RETURNED: by the bank, once it was accepted. */
export type PayoutResult = 'ACCEPTED' | 'NO_PROVIDER' | 'RETURNED';

/** Starts the workflow once the transaction commits. */
export const startCommand = (input: AdvanceRequestKey) =>
  startWorkflow(workflowType, workflowId(input.advanceRequestId), input);
