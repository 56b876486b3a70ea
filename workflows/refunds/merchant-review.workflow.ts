import { patched, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type {
  AwaitMerchantReviewInput,
  AwaitMerchantReviewResult,
} from '../../services/contracts/refunds/merchant-review.contract.ts';
import type { RefundActivities } from './refund.activities.ts';

const { readReviewDeadline, announceReviewDeadline, expireMerchantReview } =
  proxyActivities<RefundActivities>({
    startToCloseTimeout: '30 seconds',
    retry: { maximumInterval: '1 minute' },
  });

/**
 * Waits for the deadline of a merchant's review, has it announced some time before and has it decide, unless the
 * merchant has or the case is over.
 */
export async function awaitMerchantReview(
  input: AwaitMerchantReviewInput,
): Promise<AwaitMerchantReviewResult> {
  const deadline = await readReviewDeadline(input);
  if (deadline === null) return 'ENDED';
  setCurrentDetails(`The merchant may decide until ${deadline}.`);
  if (patched('announce-deadline')) await announceInTime(input);
  await sleep(Math.max(Date.parse(deadline) - Date.now(), 0));
  setCurrentDetails('The deadline has passed.');
  return expireMerchantReview(input);
}

async function announceInTime(input: AwaitMerchantReviewInput): Promise<void> {
  for (;;) {
    const noticeAt = await announceReviewDeadline(input);
    if (noticeAt === null) return;
    // At least a second, should the service's clock be behind.
    await sleep(Math.max(Date.parse(noticeAt) - Date.now(), 1_000));
  }
}
