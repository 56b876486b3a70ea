import { log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HoldResult, RefundHoldInput } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForRefund, endHoldForRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the funds of a refund case's sale from its opening on. */
export async function holdRefundFunds(input: RefundHoldInput): Promise<HoldResult> {
  return told(await holdForRefund(input));
}

/** Lets go of all that a refund case holds in funds, once it has come to its end. */
export async function endRefundHold(input: RefundHoldInput): Promise<HoldResult> {
  return told(await endHoldForRefund(input));
}

/** A sale that funds does not know has nothing to hold. */
function told(result: HoldResult): HoldResult {
  if (result === 'SALE_NOT_FOUND') {
    setCurrentDetails('Funds has no such sale: nothing is held.');
    log.warn('a refund case names a sale that funds does not know');
  }
  return result;
}
