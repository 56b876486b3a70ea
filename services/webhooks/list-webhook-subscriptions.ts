import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  ListWebhookSubscriptionsRequest,
  ListWebhookSubscriptionsResponse,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../platform/database.ts';
import type { Pagination } from '../platform/pagination.ts';
import { tenantOf } from '../platform/tenant.ts';
import { subscriptionMessage } from './subscription.message.ts';
import { selectSubscriptions } from './subscription.queries.ts';

/** A page of subscriptions, newest first by (created_at, id). */
export async function listWebhookSubscriptions(
  database: Database,
  pagination: Pagination,
  request: ListWebhookSubscriptionsRequest,
): Promise<ListWebhookSubscriptionsResponse> {
  const tenant = tenantOf(request);
  const scope = { tenant, list: 'webhook-subscriptions', filters: {} };
  const position = pagination.position(scope, request.pageToken, 2);
  const fetched = await database.read(
    selectSubscriptions({
      ...tenant,
      afterCreatedAt: position && new Date(Number(position[0])),
      afterId: position?.[1],
      limit: pagination.fetchSize(request.pageSize),
    }),
  );
  const page = pagination.cut(scope, request.pageSize, fetched, (row) => [
    String(timestampMs(row.created_at)),
    row.id,
  ]);
  return {
    $typeName: 'payments.webhooks.v1.ListWebhookSubscriptionsResponse',
    subscriptions: page.rows.map(subscriptionMessage),
    nextPageToken: page.nextPageToken,
  };
}
