import type {
  GetEventRequest,
  GetEventResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { eventMessage } from './event.message.ts';
import { selectEvent } from './event.queries.ts';

/** One event. */
export async function getEvent(database: Database, request: GetEventRequest): Promise<GetEventResponse> {
  const [row] = await database.read(selectEvent({ ...tenantOf(request), id: request.eventId }));
  if (!row) throw notFound('EVENT_NOT_FOUND', 'the event does not exist');
  return { $typeName: 'payments.webhooks.v1.GetEventResponse', event: eventMessage(row) };
}
