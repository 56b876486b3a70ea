import type { HandlerContext } from '@connectrpc/connect';
import type { PublishEventRequest } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EventIntake } from './event-intake.ts';
import { requireEventData, requireEventType } from './event-types/event-catalogue.ts';

/** Publishes an event for another team; events that arrive at the same time share a transaction. */
export function publishEvent(intake: EventIntake, request: PublishEventRequest, context: HandlerContext) {
  const { type, data = {} } = request;
  requireEventType(type, 'type');
  requireEventData(type, data);
  return intake.publish(request, context);
}
