import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { AwaitMerchantReviewInput, AwaitMerchantReviewResult } from './merchant-review.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { readReviewDeadline, expireMerchantReview } = proxyActivities<RefundActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { maximumInterval: '1 minute' },
});

/** Waits for the deadline of a merchant's review and has it decide, unless the merchant has or the case is over. */
export async function awaitMerchantReview(
  input: AwaitMerchantReviewInput,
): Promise<AwaitMerchantReviewResult> {
  const deadline = await readReviewDeadline(input);
  if (deadline === null) return 'ENDED';
  setCurrentDetails(`The merchant may decide until ${deadline}.`);
  await sleep(Math.max(Date.parse(deadline) - Date.now(), 0));
  setCurrentDetails('The deadline has passed.');
  return expireMerchantReview(input);
}
