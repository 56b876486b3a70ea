import type {
  GetWebhookSubscriptionRequest,
  GetWebhookSubscriptionResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { subscriptionMessage } from './subscription.message.ts';
import { selectSubscription } from './subscription.queries.ts';
import { subscriptionNotFound } from './subscription-store.ts';

/** One subscription. */
export async function getWebhookSubscription(
  database: Database,
  request: GetWebhookSubscriptionRequest,
): Promise<GetWebhookSubscriptionResponse> {
  const [row] = await database.read(selectSubscription({ ...tenantOf(request), id: request.subscriptionId }));
  if (!row) throw subscriptionNotFound();
  return {
    $typeName: 'payments.webhooks.v1.GetWebhookSubscriptionResponse',
    subscription: subscriptionMessage(row),
  };
}
