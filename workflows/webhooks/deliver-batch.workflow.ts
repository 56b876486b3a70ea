import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { proxyLocalActivities, setCurrentDetails, startChild } from '@temporalio/workflow';
import type {
  DeliverBatchInput,
  DeliverBatchResult,
} from '../../services/contracts/webhooks/deliver-batch.contract.ts';
import {
  type RetryDeliveryInput,
  workflowType as retryDelivery,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import type { BatchOutcome, DeliveryActivities } from './delivery.activities.ts';
import { retryDeliveryStart } from './retry-delivery.start.ts';

/** A batch that fails stays open in PostgreSQL and is handed out again: a few tries are enough here. */
const { sendBatch } = proxyLocalActivities<DeliveryActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', maximumAttempts: 4 },
});

/**
 * Of batches from when their workflow started the retry workflows, as children: in place of how many go on. It can go
 * when none of them is left to be replayed.
 */
interface EarlierOutcome {
  readonly retries?: readonly RetryDeliveryInput[];
}

/** Waits for the first attempts of its deliveries; what does not succeed goes on in a workflow of its own. */
export async function deliverBatch(input: DeliverBatchInput): Promise<DeliverBatchResult> {
  setCurrentDetails(`Waits for the first attempts of ${input.deliveryIds.length} deliveries.`);
  const { succeeded, left, retries, ...outcome }: BatchOutcome & EarlierOutcome = await sendBatch(input);
  const goingOn = retries ? await startChildren(retries) : outcome.goingOn;
  setCurrentDetails(`${succeeded} succeeded, ${goingOn} go on in retry workflows, ${left} left alone.`);
  return { succeeded, left, goingOn };
}

/** @returns how many. */
async function startChildren(retries: readonly RetryDeliveryInput[]): Promise<number> {
  await Promise.all(retries.map(startRetry));
  return retries.length;
}

/** Resolves once Temporal has started it; it outlives the batch. */
async function startRetry(retry: RetryDeliveryInput): Promise<void> {
  try {
    await startChild(retryDelivery, { ...retryDeliveryStart(retry), parentClosePolicy: 'ABANDON' });
  } catch (error) {
    // The one that runs already asks PostgreSQL for the same attempts.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
