import { proxyActivities } from '@temporalio/workflow';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import type { HoldResult } from '../../services/contracts/refunds/refund-hold.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { holdForRefund, endHoldForRefund } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Holds the amount of a refund case in its sale's funds when the case opens. */
export async function holdRefundFunds(input: RefundCaseKey): Promise<HoldResult> {
  return holdForRefund(input);
}

/** Releases everything that a closed refund case holds in funds. */
export async function endRefundHold(input: RefundCaseKey): Promise<HoldResult> {
  return endHoldForRefund(input);
}
