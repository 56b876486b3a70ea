import {
  CancellationScope,
  CancelledFailure,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type {
  ResendDeliveriesInput,
  ResendDeliveriesResult,
} from '../../services/contracts/webhooks/resend-deliveries.contract.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import type { ResendActivities } from './resend.activities.ts';

/**
 * Fails after every step but the last with the delay to the next one, so that the history does not grow with each
 * step.
 */
const { continueResend } = proxyActivities<ResendActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const { cancelResend } = proxyActivities<ResendActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const DETAILS = `The pending activity shows the progress: see its **last failure**.

- **Cancel**: no more deliveries are created, and its open deliveries are CANCELED. (Terminate has no lasting effect: the resend continues.)`;

/**
 * Runs a resend to its end; its progress is in PostgreSQL. Ends as canceled when the resend is. Canceling the workflow
 * cancels the resend.
 */
export async function resendDeliveries(input: ResendDeliveriesInput): Promise<ResendDeliveriesResult> {
  setCurrentDetails(DETAILS);
  const { environment, subscriptionId } = input;
  if (subscriptionId !== undefined) {
    upsertSearchAttributes(searchAttributesOf({ environment, subscriptionIds: [subscriptionId] }));
  }
  try {
    const end = await continueResend(input.resendId);
    // The cancellation of this workflow was committed together with the resend's, and is about to arrive.
    if (end.state === 'CANCELED') await sleep('2 minutes');
    setCurrentDetails(`${end.state}: ${end.succeeded} of ${end.made} deliveries succeeded.`);
    return end;
  } catch (error) {
    if (!CancellationScope.current().consideredCancelled) throw error;
    setCurrentDetails('Canceled: no more deliveries are created, and open ones are canceled.');
    await CancellationScope.nonCancellable(() => cancelResend(input));
    throw new CancelledFailure('the resend was canceled');
  }
}
