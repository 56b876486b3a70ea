import { proxyActivities, sleep } from '@temporalio/workflow';
import {
  COMPLETE_AFTER,
  type ReleaseAdvanceInput,
} from '../../services/contracts/advances/advance-release.contract.ts';
import type { AdvanceActivities } from './advance.activities.ts';

const { finishAdvanceRelease, settleReleasedAdvance } = proxyActivities<AdvanceActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumInterval: '1 minute' },
});

/** Sees that a payout that has started ends, and settles the advance once its last covered date has passed. */
export async function releaseAdvance(input: ReleaseAdvanceInput): Promise<void> {
  await sleep(COMPLETE_AFTER);
  await finishAdvanceRelease(input);
  const untilSettled = Date.parse(input.settlesAt) - Date.now();
  if (untilSettled > 0) await sleep(untilSettled);
  await settleReleasedAdvance(input);
}
