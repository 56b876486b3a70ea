import type { HandlerContext } from '@connectrpc/connect';
import type {
  TriggerEventRequest,
  TriggerEventResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { Writes } from '../../platform/writes/writes.ts';
import { requireEventType } from '../events/event-types/event-catalog.ts';
import { listEventTypes } from '../events/list-event-types.ts';

/** Publishes the example of an event type. Its object is that of the example or, if it has none, the merchant. */
export function triggerEvent(writes: Writes, request: TriggerEventRequest, context: HandlerContext) {
  const { eventType: type, merchantId } = request;
  requireEventType(type, 'event_type');
  const { dataExample: data = {} } = listEventTypes().eventTypes.find(({ name }) => name === type)!;
  const objectId = typeof data.id === 'string' ? data.id : merchantId;
  return writes.run<typeof TriggerEventResponseSchema>(request, context, async (tx) => {
    const { id } = await tx.publish({ type, objectId, data, occurredAt: new Date() });
    return { eventId: id };
  });
}
