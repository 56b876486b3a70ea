import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RefundActivities } from './refund.activities.ts';
import type { ExecuteRefundInput, ExecuteRefundResult } from './refund-execution.contract.ts';

const { debitRefund, recordRefundDebit } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/**
 * Carries on an execution that refunds has committed: funds debits, refunds commits how that ended. Whatever dies in
 * between, the steps that are left are done by the run that follows.
 */
export async function executeRefund(input: ExecuteRefundInput): Promise<ExecuteRefundResult> {
  setCurrentDetails("Debits the merchant's funds.");
  const outcome = await debitRefund(input);
  if (outcome === 'ENDED') return 'ENDED';
  setCurrentDetails(`The debit ended as ${outcome}; records it.`);
  return recordRefundDebit(input, outcome);
}
