import type {
  GetWebhookSubscriptionRequest,
  GetWebhookSubscriptionResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { endpointHealthMessage } from '../health/endpoint-health.message.ts';
import { selectEndpointLatencies } from '../health/endpoint-health.queries.ts';
import { subscriptionMessage } from './subscription.message.ts';
import { selectSubscription } from './subscription.queries.ts';
import { subscriptionNotFound } from './subscription-store.ts';

/** One subscription, with its health if asked for. */
export async function getWebhookSubscription(
  database: Database,
  request: GetWebhookSubscriptionRequest,
): Promise<GetWebhookSubscriptionResponse> {
  const tenant = tenantOf(request);
  const row = await database.readOne(selectSubscription({ ...tenant, id: request.subscriptionId }));
  if (!row) throw subscriptionNotFound();
  const [health] = request.withHealth
    ? await database.read(selectEndpointLatencies({ ...tenant, ids: [row.id] }))
    : [];
  return {
    $typeName: 'payments.webhooks.v1.GetWebhookSubscriptionResponse',
    subscription: { ...subscriptionMessage(row), health: health && endpointHealthMessage(health) },
  };
}
