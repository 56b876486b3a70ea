import type {
  GetEventRequest,
  GetEventResponse,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Database } from '../../platform/database/database.ts';
import { tenantOf } from '../../platform/tenant.ts';
import { eventMessage } from './event.message.ts';
import { selectEvent } from './event.queries.ts';
import { eventNotFound } from './require-event.ts';

export async function getEvent(database: Database, request: GetEventRequest): Promise<GetEventResponse> {
  const row = await database.readOne(selectEvent({ ...tenantOf(request), id: request.eventId }));
  if (!row) throw eventNotFound();
  return { $typeName: 'payments.webhooks.v1.GetEventResponse', event: eventMessage(row) };
}
