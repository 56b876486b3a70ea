import { proxyActivities } from '@temporalio/workflow';
import type { DisputeHoldInput } from '../../services/contracts/refunds/dispute-hold.contract.ts';
import type { HoldResult } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForDispute, endHoldForDispute, restoreForDispute } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the funds of a dispute's sale when the dispute opens. */
export async function holdDisputedFunds(input: DisputeHoldInput): Promise<HoldResult> {
  return holdForDispute(input);
}

/** Releases the funds that a closed dispute holds, or deducts them if it was lost. */
export async function endDisputeHold(input: DisputeHoldInput): Promise<HoldResult> {
  return endHoldForDispute(input);
}

/** Reverses the deductions for a lost dispute that was reversed, and blocks later ones. */
export async function reverseLostDispute(input: DisputeHoldInput): Promise<void> {
  await restoreForDispute(input);
}
