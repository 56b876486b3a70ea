import type { RetryStart } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { environmentName } from '../../services/platform/tenant.ts';
import type { RetryDeliveryInput } from './retry-delivery.contract.ts';

/** A retry as the service hands it out, in the form of its workflow. */
export const retryDeliveryInput = (retry: RetryStart): RetryDeliveryInput => ({
  deliveryId: retry.deliveryId,
  merchantId: retry.merchantId,
  environment: environmentName(retry.environment),
  subscriptionId: retry.subscriptionId,
  requestId: retry.requestId,
  eventType: retry.eventType,
});
