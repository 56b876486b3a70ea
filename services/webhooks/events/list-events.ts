import type {
  ListEventsRequest,
  ListEventsResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Pagination } from '../../platform/reads/pagination.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { firstIdFrom } from '../id-time.ts';
import { eventMessage } from './event.message.ts';
import { eventOrder, selectEvents } from './event.queries.ts';

/** A page of events, newest first. */
export async function listEvents(
  pagination: Pagination,
  request: ListEventsRequest,
): Promise<ListEventsResponse> {
  const tenant = tenantOf(request);
  const filters = {
    type: request.type,
    objectId: request.objectId,
    requestId: request.requestId,
    fromId: request.publishedFrom && firstIdFrom(request.publishedFrom),
    toId: request.publishedTo && firstIdFrom(request.publishedTo),
  };
  const scope = { tenant, list: 'events', filters, order: eventOrder };
  const page = await pagination.list(scope, request, (range) =>
    selectEvents({ ...tenant, ...filters, ...range }),
  );
  return {
    $typeName: 'payments.webhooks.v1.ListEventsResponse',
    events: page.rows.map(eventMessage),
    nextPageToken: page.nextPageToken,
  };
}
