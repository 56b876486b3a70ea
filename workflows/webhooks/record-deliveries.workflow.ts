import { proxyLocalActivities, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import {
  MAX_SEARCHABLE,
  type RecordDeliveriesInput,
  type RecordDeliveriesResult,
} from '../../services/contracts/webhooks/record-deliveries.contract.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import type { DeliveryActivities } from './delivery.activities.ts';

const { listDeliveryRecords } = proxyLocalActivities<DeliveryActivities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** A search attribute holds 2 KiB. */
const MAX_ATTRIBUTE_LENGTH = 1_900;

/**
 * Shows the deliveries that succeeded in some seconds in one process without a retry workflow. Up to 40 of them are found
 * by their merchant, subscription and request; GetDelivery names the workflow of each.
 */
export async function recordDeliveries(input: RecordDeliveriesInput): Promise<RecordDeliveriesResult> {
  const deliveries = await listDeliveryRecords(input);
  setCurrentDetails(`${deliveries.length} deliveries succeeded.`);
  if (deliveries.length <= MAX_SEARCHABLE) {
    upsertSearchAttributes(
      searchAttributesOf({
        environment: input.environment,
        merchantIds: distinct(deliveries.map(({ merchantId }) => merchantId)),
        subscriptionIds: distinct(deliveries.map(({ subscriptionId }) => subscriptionId)),
        requestIds: distinct(deliveries.map(({ requestId }) => requestId)),
      }),
    );
  }
  return { succeeded: deliveries.length, deliveries };
}

/** As many distinct values as fit: callers choose request ids, which may be long. */
function distinct(values: readonly string[]): string[] {
  let length = 0;
  return [...new Set(values)].filter((value) => {
    const more = new TextEncoder().encode(JSON.stringify(value)).length + 1;
    if (length + more > MAX_ATTRIBUTE_LENGTH) return false;
    length += more;
    return true;
  });
}
