import { log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { DisputeHoldInput } from '../../services/contracts/refunds/dispute-hold.contract.ts';
import type { HoldResult } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForDispute, endHoldForDispute } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the funds of a dispute's sale from its opening on. */
export async function holdDisputedFunds(input: DisputeHoldInput): Promise<HoldResult> {
  return told(await holdForDispute(input));
}

/** Gives the funds that a dispute holds back, or has them deducted, once it has closed. */
export async function endDisputeHold(input: DisputeHoldInput): Promise<HoldResult> {
  return told(await endHoldForDispute(input));
}

/** A sale that funds does not know has nothing to hold. */
function told(result: HoldResult): HoldResult {
  if (result === 'SALE_NOT_FOUND') {
    setCurrentDetails('Funds has no such sale: nothing is held.');
    log.warn('a dispute names a sale that funds does not know');
  }
  return result;
}
