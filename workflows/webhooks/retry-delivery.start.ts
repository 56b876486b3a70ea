import {
  type RetryDeliveryInput,
  workflowId,
} from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';

/** How a retry workflow is started, be it by its batch or by the dispatcher. */
export const retryDeliveryStart = (retry: RetryDeliveryInput) => ({
  workflowId: workflowId(retry.deliveryId),
  args: [retry] as [RetryDeliveryInput],
  staticSummary: `${retry.eventType} to subscription ${retry.subscriptionId}`,
  typedSearchAttributes: searchAttributesOf({
    environment: retry.environment,
    eventType: retry.eventType,
    merchantIds: [retry.merchantId],
    subscriptionIds: [retry.subscriptionId],
    requestIds: [retry.requestId],
  }),
});
