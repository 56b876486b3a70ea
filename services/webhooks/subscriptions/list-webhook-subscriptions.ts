import type {
  ListWebhookSubscriptionsRequest,
  ListWebhookSubscriptionsResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { subscriptionMessage } from './subscription.message.ts';
import { selectSubscriptions, subscriptionOrder } from './subscription.queries.ts';

/** A page of subscriptions, newest first by (created_at, id). */
export async function listWebhookSubscriptions(
  database: Database,
  pagination: Pagination,
  request: ListWebhookSubscriptionsRequest,
): Promise<ListWebhookSubscriptionsResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'webhook-subscriptions', filters: {}, order: subscriptionOrder };
  const page = await pagination.page(scope, request, (range) =>
    database.read(selectSubscriptions({ ...tenant, ...range })),
  );
  return {
    $typeName: 'payments.webhooks.v1.ListWebhookSubscriptionsResponse',
    subscriptions: page.rows.map(subscriptionMessage),
    nextPageToken: page.nextPageToken,
  };
}
