import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { AwaitMerchantReviewResult } from '../../services/contracts/refunds/merchant-review.contract.ts';
import type { RefundCaseKey } from '../../services/contracts/refunds/refund-case-key.ts';
import type { RefundActivities } from './refund.activities.ts';

const { readReviewDeadline, announceReviewDeadline, expireMerchantReview } =
  proxyActivities<RefundActivities>({
    startToCloseTimeout: '30 seconds',
    retry: { maximumInterval: '1 minute' },
  });

/**
 * Announces the deadline of a merchant's review some time before it, waits for it, and then expires the review. Ends
 * early when the merchant decides or the case is closed.
 */
export async function awaitMerchantReview(input: RefundCaseKey): Promise<AwaitMerchantReviewResult> {
  const deadline = await readReviewDeadline(input);
  if (deadline === null) return 'ENDED';
  setCurrentDetails(`The merchant may decide until ${deadline}.`);
  await announceDeadline(input);
  await sleep(Math.max(Date.parse(deadline) - Date.now(), 0));
  setCurrentDetails('The deadline has passed.');
  return expireMerchantReview(input);
}

async function announceDeadline(input: RefundCaseKey): Promise<void> {
  for (;;) {
    const noticeAt = await announceReviewDeadline(input);
    if (noticeAt === null) return;
    // Waits at least a second, in case the service's clock is behind.
    await sleep(Math.max(Date.parse(noticeAt) - Date.now(), 1_000));
  }
}
