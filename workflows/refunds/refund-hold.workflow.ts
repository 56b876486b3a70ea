import { log, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { HoldResult, RefundHoldInput } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForRefund, endHoldForRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the funds of a refund case's sale when the case opens. */
export async function holdRefundFunds(input: RefundHoldInput): Promise<HoldResult> {
  return reportMissingSale(await holdForRefund(input));
}

/** Releases everything that a closed refund case holds in funds. */
export async function endRefundHold(input: RefundHoldInput): Promise<HoldResult> {
  return reportMissingSale(await endHoldForRefund(input));
}

/** Shows in the Temporal UI and the log that funds has no such sale, so nothing is held. */
function reportMissingSale(result: HoldResult): HoldResult {
  if (result === 'SALE_NOT_FOUND') {
    setCurrentDetails('Funds has no such sale; nothing is held.');
    log.warn('the refund case names a sale that funds does not have');
  }
  return result;
}
