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

/** Fails after every turn that another is to follow, and names when: the history does not grow by turns. */
const { continueResend } = proxyActivities<ResendActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
});

const { cancelResend } = proxyActivities<ResendActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const DETAILS = `The pending activity says how far it is: its **last failure**.

- **Cancel**: no more deliveries are made, and those of it that are open are CANCELED. (Terminate does not last: it goes on.)`;

/**
 * Takes a resend to its end; how far it is, PostgreSQL says. Ends as canceled when the resend is. Canceling it cancels
 * the resend.
 */
export async function resendDeliveries(input: ResendDeliveriesInput): Promise<ResendDeliveriesResult> {
  setCurrentDetails(DETAILS);
  const { environment, subscriptionId } = input;
  if (subscriptionId !== undefined) {
    upsertSearchAttributes(searchAttributesOf({ environment, subscriptionIds: [subscriptionId] }));
  }
  try {
    const end = await continueResend(input.resendId);
    // The cancellation of this workflow was committed with the resend's, and comes.
    if (end.state === 'CANCELED') await sleep('2 minutes');
    setCurrentDetails(`${end.state}: ${end.succeeded} of ${end.made} deliveries succeeded.`);
    return end;
  } catch (error) {
    if (!CancellationScope.current().consideredCancelled) throw error;
    setCurrentDetails('Canceled: no more deliveries are made, and those that were open are canceled.');
    await CancellationScope.nonCancellable(() => cancelResend(input));
    throw new CancelledFailure('the resend was canceled');
  }
}
