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

/** Completes a payout that has started, and settles the advance after its last covered date. */
export async function releaseAdvance(input: ReleaseAdvanceInput): Promise<void> {
  await sleep(COMPLETE_AFTER);
  await finishAdvanceRelease(input);
  const untilSettled = Date.parse(input.settlesAt) - Date.now();
  if (untilSettled > 0) await sleep(untilSettled);
  await settleReleasedAdvance(input);
}
