import { proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  DeliverBatchInput,
  DeliverBatchResult,
} from '../../services/contracts/webhooks/deliver-batch.contract.ts';
import type { DeliveryActivities } from './delivery.activities.ts';

/** A batch whose workflow fails stays open in PostgreSQL and is claimed again: a few tries are enough here. */
const { sendBatch } = proxyLocalActivities<DeliveryActivities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '500 ms', maximumAttempts: 4 },
});

/**
 * Waits for the first attempts of a batch. Deliveries that do not succeed continue in retry workflows of their own,
 * which the activity starts and which outlive the batch.
 */
export async function deliverBatch(input: DeliverBatchInput): Promise<DeliverBatchResult> {
  setCurrentDetails(`Waits for the first attempts of ${input.deliveryIds.length} deliveries.`);
  const result = await sendBatch(input);
  const { succeeded, retrying, skipped } = result;
  setCurrentDetails(
    `${succeeded} succeeded, ${retrying} continue in retry workflows, ${skipped} were skipped.`,
  );
  return result;
}
