import {
  CancellationScope,
  CancelledFailure,
  defineSignal,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow';
import {
  ASK_AGAIN_SIGNAL,
  RETRY_NOW_SIGNAL,
  type RetryDeliveryInput,
  type RetryDeliveryResult,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import type { DeliveryActivities } from './delivery.activities.ts';

/**
 * Fails after every attempt that another is to follow, and names when: Temporal waits in between, and the history
 * does not grow by attempts.
 */
const { attemptDelivery } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const { cancelDelivery } = proxyActivities<DeliveryActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const retryNow = defineSignal(RETRY_NOW_SIGNAL);
const askAgain = defineSignal(ASK_AGAIN_SIGNAL);

const DETAILS = `The pending activity says what came of the last attempt, and when the next is due: its **last failure**.

- Signal **${RETRY_NOW_SIGNAL}**: makes the next attempt now.
- **Cancel**: nothing more is sent, and the delivery is CANCELED. (Terminate does not last: the delivery goes on.)`;

/**
 * Takes one delivery to the end of its schedule; what is due, and when, PostgreSQL says. Ends as canceled when the
 * delivery is, and as failed when it is exhausted. Canceling it cancels the delivery.
 */
export async function retryDelivery(retry: RetryDeliveryInput): Promise<RetryDeliveryResult> {
  const { deliveryId } = retry;
  const workflow = CancellationScope.current();
  let attempting = new CancellationScope();
  let asked = 'NO' as 'NO' | 'AGAIN' | 'NOW';
  const interrupt = (as: 'AGAIN' | 'NOW') => {
    if (asked !== 'NOW') asked = as;
    attempting.cancel();
  };
  setHandler(retryNow, () => interrupt('NOW'), { description: 'Makes the next attempt now.' });
  setHandler(askAgain, () => interrupt('AGAIN'), { description: 'For services: what is due has changed.' });
  setCurrentDetails(DETAILS);
  for (;;) {
    const now = asked === 'NOW';
    asked = 'NO';
    attempting = new CancellationScope();
    try {
      const end = await attempting.run(() => attemptDelivery(deliveryId, now));
      // The cancellation of this workflow was committed with the delivery's, and comes.
      if (end === 'CANCELED') await sleep('2 minutes');
      return end;
    } catch (error) {
      if (workflow.consideredCancelled) {
        setCurrentDetails('Canceled: nothing more is sent.');
        if (patched('cancel-delivery')) await CancellationScope.nonCancellable(() => cancelDelivery(retry));
        throw new CancelledFailure('the delivery was canceled');
      }
      if (asked === 'NO') throw error;
    }
  }
}
