import {
  CancellationScope,
  CancelledFailure,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import {
  RECHECK_SIGNAL,
  RETRY_NOW_SIGNAL,
  type RetryDeliveryInput,
  type RetryDeliveryResult,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import type { DeliveryActivities } from './delivery.activities.ts';

/**
 * Fails after every attempt but the last with the delay to the next one: Temporal waits in between, and the history
 * does not grow with each attempt.
 */
const { attemptDelivery } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '1 minute',
  // If a worker dies, the activity soon runs again: it only waits for the attempt.
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const { cancelDelivery } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const retryNow = defineSignal(RETRY_NOW_SIGNAL);
const recheck = defineSignal(RECHECK_SIGNAL);

const DETAILS = `The pending activity shows the result of the last attempt and when the next is due: see its **last failure**.

- Signal **${RETRY_NOW_SIGNAL}**: makes the next attempt now.
- **Cancel**: nothing more is sent, and the delivery is CANCELED. (Terminate has no lasting effect: the delivery continues.)`;

type Interruption = 'NONE' | 'RECHECK' | 'RETRY_NOW';

/**
 * Retries one delivery to the end of its schedule; PostgreSQL decides when each attempt is due. Ends as canceled when
 * the delivery is, and as failed when it is exhausted. Canceling the workflow cancels the delivery.
 */
export async function retryDelivery(retry: RetryDeliveryInput): Promise<RetryDeliveryResult> {
  const { deliveryId } = retry;
  const workflow = CancellationScope.current();
  let attempting = new CancellationScope();
  let interruption = 'NONE' as Interruption;
  const interrupt = (by: Interruption) => {
    if (interruption !== 'RETRY_NOW') interruption = by;
    attempting.cancel();
  };
  setHandler(retryNow, () => interrupt('RETRY_NOW'), { description: 'Makes the next attempt now.' });
  setHandler(recheck, () => interrupt('RECHECK'), {
    description: 'For services: when the next attempt is due has changed.',
  });
  setCurrentDetails(DETAILS);
  for (;;) {
    const now = interruption === 'RETRY_NOW';
    interruption = 'NONE';
    attempting = new CancellationScope();
    try {
      const result = await attempting.run(() => attemptDelivery(deliveryId, now));
      // The cancellation of this workflow was committed together with the delivery's, and is about to arrive.
      if (result === 'CANCELED') await sleep('2 minutes');
      return result;
    } catch (error) {
      if (workflow.consideredCancelled) {
        setCurrentDetails('Canceled: nothing more is sent.');
        await CancellationScope.nonCancellable(() => cancelDelivery(retry));
        throw new CancelledFailure('the delivery was canceled');
      }
      if (interruption === 'NONE') throw error;
    }
  }
}
