import {
  type ListWebhookSubscriptionsRequest,
  type ListWebhookSubscriptionsResponse,
  WebhookSubscriptionState,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { enumName } from '../../platform/enum-name.ts';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { endpointHealthMessage } from '../health/endpoint-health.message.ts';
import { selectEndpointHealths } from '../health/endpoint-health.queries.ts';
import { subscriptionMessage } from './subscription.message.ts';
import { selectSubscriptions, subscriptionOrder } from './subscription.queries.ts';

/** A page of subscriptions, newest first by (created_at, id). */
export async function listWebhookSubscriptions(
  database: Database,
  pagination: Pagination,
  request: ListWebhookSubscriptionsRequest,
): Promise<ListWebhookSubscriptionsResponse> {
  const tenant = tenantOf(request);
  const filters = { state: enumName(WebhookSubscriptionState, request.state) };
  const scope = { tenant, list: 'webhook-subscriptions', filters, order: subscriptionOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectSubscriptions({ ...tenant, ...filters, ...range }),
  );
  const ids = request.withHealth ? page.rows.map(({ id }) => id) : [];
  const healths = ids.length > 0 ? await database.readList(selectEndpointHealths({ ...tenant, ids })) : [];
  const healthOf = new Map(healths.map((row) => [row.id, endpointHealthMessage(row)]));
  return {
    $typeName: 'payments.webhooks.v1.ListWebhookSubscriptionsResponse',
    subscriptions: page.rows.map((row) => ({ ...subscriptionMessage(row), health: healthOf.get(row.id) })),
    nextPageToken: page.nextPageToken,
  };
}
