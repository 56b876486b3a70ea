import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { ReverseRefundInput } from '../../services/contracts/refunds/refund-reversal.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { reverseRefundDebit } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Reverses the debit of a failed refund in funds. */
export async function reverseRefund(input: ReverseRefundInput): Promise<void> {
  setCurrentDetails("Reversing the debit of the merchant's funds.");
  await reverseRefundDebit(input);
}
