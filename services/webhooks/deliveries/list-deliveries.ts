import {
  DeliveryStatus,
  type ListDeliveriesRequest,
  type ListDeliveriesResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { enumName } from '../../platform/enum-name.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { firstIdFrom } from '../id-time.ts';
import { attemptMessage, deliveryMessage } from './delivery.message.ts';
import { deliveryOrder, selectDeliveries, selectLastAttempts } from './delivery.queries.ts';
import type { DeliveryDependencies } from './delivery-dependencies.ts';
import { deliverySearch } from './delivery-search.queries.ts';

/** A page of deliveries, newest first. */
export async function listDeliveries(
  { database, pagination, link }: DeliveryDependencies,
  request: ListDeliveriesRequest,
): Promise<ListDeliveriesResponse> {
  const tenant = tenantOf(request);
  const status = enumName(DeliveryStatus, request.status);
  const filters = {
    subscriptionId: request.subscriptionId?.toLowerCase(),
    eventId: request.eventId?.toLowerCase(),
    eventType: request.eventType,
    objectId: request.objectId,
    requestId: request.requestId,
    resendId: request.resendId?.toLowerCase(),
    fromId: request.createdFrom && firstIdFrom(request.createdFrom),
    toId: request.createdTo && firstIdFrom(request.createdTo),
  };
  const scope = { tenant, list: 'deliveries', filters: { status, ...filters }, order: deliveryOrder };
  const search = deliverySearch(tenant, status, filters);
  const page = search
    ? await pagination.search(scope, request, search)
    : await pagination.list(scope, request, (range) =>
        selectDeliveries(status, { ...tenant, ...filters, ...range }),
      );
  const ids = request.withLastAttempt ? page.rows.map(({ id }) => id) : [];
  const attempts = ids.length > 0 ? await database.readList(selectLastAttempts({ ...tenant, ids })) : [];
  const lastOf = new Map(attempts.map((row) => [row.delivery_id, attemptMessage(row)]));
  return {
    $typeName: 'payments.webhooks.v1.ListDeliveriesResponse',
    deliveries: page.rows.map((row) => ({ ...deliveryMessage(row, link), lastAttempt: lastOf.get(row.id) })),
    nextPageToken: page.nextPageToken,
  };
}
