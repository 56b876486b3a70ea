import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RefundActivities } from './refund.activities.ts';
import type { ReverseRefundInput } from './refund-reversal.contract.ts';

const { reverseRefundDebit } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Posts the reversal of a failed refund's debit in funds. */
export async function reverseRefund(input: ReverseRefundInput): Promise<void> {
  setCurrentDetails("Gives the debit back to the merchant's funds.");
  await reverseRefundDebit(input);
}
