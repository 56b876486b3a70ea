import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { PayoutResult } from '../../services/contracts/advances/advance-payout.contract.ts';
import type { AdvanceRequestKey } from '../../services/contracts/advances/advance-request-key.ts';
import type { AdvanceActivities } from './advance.activities.ts';

/** The provider's deadline and the recording of its answer take less. Retried until the provider accepts. */
const { submitPayout } = proxyActivities<AdvanceActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 hour' },
});

/** Submits the payout of a released advance until the provider accepts it. */
export async function payOutAdvance(input: AdvanceRequestKey): Promise<PayoutResult> {
  setCurrentDetails('Submitting the payout to the provider.');
  return submitPayout(input);
}
