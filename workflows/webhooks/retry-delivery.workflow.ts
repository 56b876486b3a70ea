import {
  CancellationScope,
  CancelledFailure,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import type { DeliveryActivities } from './delivery.activities.ts';
import {
  RETRY_NOW_SIGNAL,
  type RetryDeliveryInput,
  type RetryDeliveryResult,
} from './retry-delivery.contract.ts';

/**
 * Fails after every attempt that another is to follow, and names when: Temporal waits in between, and the history
 * does not grow by attempts.
 */
const { attemptDelivery } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const retryNow = defineSignal(RETRY_NOW_SIGNAL);

/**
 * Takes one delivery to the end of its schedule; what is due, and when, PostgreSQL says. Ends as canceled when the
 * delivery is, and as failed when it is exhausted.
 */
export async function retryDelivery({ deliveryId }: RetryDeliveryInput): Promise<RetryDeliveryResult> {
  const workflow = CancellationScope.current();
  let attempting = new CancellationScope();
  let retryAsked = false;
  setHandler(retryNow, () => {
    retryAsked = true;
    attempting.cancel();
  });
  setCurrentDetails('Its pending activity says what came of the last attempt and when the next is due.');
  for (;;) {
    retryAsked = false;
    attempting = new CancellationScope();
    try {
      const end = await attempting.run(() => attemptDelivery(deliveryId));
      // The cancellation of this workflow was committed with the delivery's, and comes.
      if (end === 'CANCELED') await sleep('2 minutes');
      return end;
    } catch (error) {
      if (workflow.consideredCancelled) {
        setCurrentDetails('Canceled: nothing more is sent.');
        throw new CancelledFailure('the delivery was canceled');
      }
      if (!retryAsked) throw error;
    }
  }
}
