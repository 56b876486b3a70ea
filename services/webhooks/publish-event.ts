import type { JsonObject } from '@bufbuild/protobuf';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  PublishEventRequest,
  PublishEventResponseSchema,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { timestampOf } from '../platform/timestamps.ts';
import type { Writes } from '../platform/writes.ts';
import type { EventIntake } from './event-intake.ts';
import { requireEventData, requireEventType } from './event-types/event-catalogue.ts';

/** Publishes an event for another team, in one transaction with those that come at the same time. */
export function publishEvent(intake: EventIntake, request: PublishEventRequest, context: HandlerContext) {
  const { type, data = {} } = request;
  requireEventType(type, 'type');
  requireEventData(type, data);
  return intake.publish(request, context);
}

/** Publishes a valid event in a transaction of its own. */
export function publishAlone(writes: Writes, request: PublishEventRequest, context: HandlerContext) {
  const { environment, type, objectId } = request;
  const data: JsonObject = request.data ?? {};
  return writes.run<typeof PublishEventResponseSchema>(request, context, async (tx) => {
    const { merchantId } = tx.tenant;
    const requestId = request.requestId ?? tx.requestId;
    const occurredAt = new Date();
    const { id, sequence } = await tx.publish({ type, objectId, data, requestId, occurredAt });
    const timestamp = timestampOf(occurredAt);
    return { event: { id, merchantId, environment, type, objectId, sequence, requestId, timestamp, data } };
  });
}
