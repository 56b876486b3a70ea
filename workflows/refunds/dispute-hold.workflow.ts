import { log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DisputeHoldInput } from '../../services/contracts/refunds/dispute-hold.contract.ts';
import type { HoldResult } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForDispute, endHoldForDispute } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the funds of a dispute's sale when the dispute opens. */
export async function holdDisputedFunds(input: DisputeHoldInput): Promise<HoldResult> {
  return reportMissingSale(await holdForDispute(input));
}

/** Releases the funds that a closed dispute holds, or has them deducted when it was lost. */
export async function endDisputeHold(input: DisputeHoldInput): Promise<HoldResult> {
  return reportMissingSale(await endHoldForDispute(input));
}

/** Shows in the Temporal UI and the log that funds has no such sale, so nothing is held. */
function reportMissingSale(result: HoldResult): HoldResult {
  if (result === 'SALE_NOT_FOUND') {
    setCurrentDetails('Funds has no such sale; nothing is held.');
    log.warn('the dispute names a sale that funds does not have');
  }
  return result;
}
