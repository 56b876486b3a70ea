import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import type { RefundActivities } from './refund.activities.ts';

const { reverseRefundDebit } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Reverses the debit of a failed refund in funds. */
export async function reverseRefund(input: RefundCaseKey): Promise<void> {
  setCurrentDetails("Reversing the debit of the merchant's funds.");
  await reverseRefundDebit(input);
}
