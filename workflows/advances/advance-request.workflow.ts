import { proxyActivities, sleep } from '@temporalio/workflow';
import {
  COMPLETE_AFTER,
  type CompleteAdvanceRequestInput,
  type CompleteAdvanceRequestResult,
} from '../../services/contracts/advances/advance-request.contract.ts';
import type { AdvanceActivities } from './advance.activities.ts';

const { finishAdvanceRequest } = proxyActivities<AdvanceActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 minute' },
});

/** Completes an advance request that failed halfway, with its quote claimed or its installments reserved. */
export async function completeAdvanceRequest(
  input: CompleteAdvanceRequestInput,
): Promise<CompleteAdvanceRequestResult> {
  await sleep(COMPLETE_AFTER);
  return finishAdvanceRequest(input);
}
