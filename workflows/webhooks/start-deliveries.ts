import type { Batch, RetryStart } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import * as deliverBatch from '../../services/contracts/webhooks/deliver-batch.contract.ts';
import * as retryDelivery from '../../services/contracts/webhooks/retry-delivery.contract.ts';
import { environmentName } from '../../services/platform/tenant.ts';
import { searchAttributesOf } from '../temporal/search-attributes.ts';
import type { WorkflowClient } from '../temporal/workflow-client.ts';

/** A larger batch is found by its environment only: search attributes hold about 2 KiB. */
const MAX_LISTED_DELIVERIES = 40;

/**
 * Starts the workflow of a batch.
 * @param startedEagerly whether this process has started attempts of it.
 * @returns whether its first workflow task came with the answer, so that it runs in this process.
 */
export async function startBatch(
  temporal: WorkflowClient,
  batch: Batch,
  startedEagerly: boolean,
): Promise<boolean> {
  const { id, deliveryIds, merchantIds, subscriptionIds, requestIds, eventType } = batch;
  const input: deliverBatch.DeliverBatchInput = { batchId: id, deliveryIds, startedEagerly };
  const environment = environmentName(batch.environment);
  const listed = deliveryIds.length <= MAX_LISTED_DELIVERIES;
  const { eagerlyStarted } = await temporal.start(deliverBatch.workflowType, {
    workflowId: deliverBatch.workflowId(id),
    args: [input],
    staticSummary: `${deliveryIds.length} deliveries`,
    typedSearchAttributes: searchAttributesOf({
      environment,
      ...(listed && { merchantIds, subscriptionIds, requestIds, eventType }),
    }),
  });
  return eagerlyStarted;
}

/** Starts the retry workflow of a delivery, unless it runs. */
export async function startRetry(temporal: WorkflowClient, retry: RetryStart): Promise<void> {
  const input: retryDelivery.RetryDeliveryInput = {
    deliveryId: retry.deliveryId,
    merchantId: retry.merchantId,
    environment: environmentName(retry.environment),
    subscriptionId: retry.subscriptionId,
    requestId: retry.requestId,
    eventType: retry.eventType,
  };
  await temporal.start(retryDelivery.workflowType, {
    workflowId: retryDelivery.workflowId(retry.deliveryId),
    args: [input],
    ...describeRetry(input),
  });
}

/** Summary and search attributes of a retry workflow, whether the dispatcher or a workflow command starts it. */
export const describeRetry = (retry: retryDelivery.RetryDeliveryInput) => ({
  staticSummary: `${retry.eventType} to subscription ${retry.subscriptionId}`,
  typedSearchAttributes: searchAttributesOf({
    environment: retry.environment,
    eventType: retry.eventType,
    merchantIds: [retry.merchantId],
    subscriptionIds: [retry.subscriptionId],
    requestIds: [retry.requestId],
  }),
});
