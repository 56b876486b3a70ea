import type { DescMessage, JsonObject, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type {
  Event,
  PublishEventRequest,
  PublishEventResponse,
  PublishEventResponseSchema,
  PublishEventsRequest,
  PublishEventsResponse,
  PublishEventsResponseSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { parseAll } from '../../platform/request-faults.ts';
import { actorOf, requestIdOf } from '../../platform/rpc/call-context.ts';
import { idempotencyScope } from '../../platform/writes/idempotency-records.ts';
import type { Writes } from '../../platform/writes/writes.ts';
import { type EventIntake, eventMessages, type Publication, type PublishCall } from './event-intake.ts';
import { requireEventData, requireEventType } from './event-types/event-catalog.ts';

/** Publishes an event for another team; events that arrive at the same time share a transaction. */
export async function publishEvent(
  intake: EventIntake,
  writes: Writes,
  request: PublishEventRequest,
  context: HandlerContext,
): Promise<PublishEventResponse> {
  const { data, ...requestWithoutData } = request;
  const publication = publicationOf({ request, requestWithoutData, context }, [request], (_, field) => field);
  const together = await intake.publish(publication);
  const { event } = together
    ? { event: together[0] }
    : await publishAlone<typeof PublishEventResponseSchema>(writes, publication, ([event]) => ({
        event: event!,
      }));
  return {
    $typeName: 'payments.webhooks.v1.PublishEventResponse',
    event: { ...event!, ...(data && { data }) },
  };
}

/** Publishes many events of a merchant under one idempotency key: all of them, or none. */
export async function publishEvents(
  intake: EventIntake,
  writes: Writes,
  request: PublishEventsRequest,
  context: HandlerContext,
): Promise<PublishEventsResponse> {
  const requestWithoutData = { ...request, events: request.events.map(({ data: _, ...event }) => event) };
  const publication = publicationOf(
    { request, requestWithoutData, context },
    request.events,
    (index, field) => `events[${index}].${field}`,
  );
  const events = await intake.publish(publication);
  if (events) return { $typeName: 'payments.webhooks.v1.PublishEventsResponse', events };
  return publishAlone<typeof PublishEventsResponseSchema>(writes, publication, (events) => ({ events }));
}

/** An event as a request names it. */
interface RequestedEvent {
  readonly type: string;
  readonly objectId: string;
  readonly data?: JsonObject;
  readonly requestId?: string;
}

/**
 * The events of a call. INVALID_ARGUMENT (INVALID_EVENT_TYPE, INVALID_EVENT_DATA).
 * @param fieldOf the path of a field of an event in the request.
 */
function publicationOf(
  call: PublishCall,
  requested: readonly RequestedEvent[],
  fieldOf: (index: number, field: string) => string,
): Publication {
  parseAll(
    ...requested.map(({ type, data = {} }, index) => () => {
      requireEventType(type, fieldOf(index, 'type'));
      requireEventData(type, data, fieldOf(index, 'data'));
    }),
  );
  const { request, context } = call;
  // Hashes parts of the message: converting data that is JSON already would take longer than everything else.
  const body = requested.map(({ type, objectId, requestId, data }) => ({ type, objectId, requestId, data }));
  const scope = idempotencyScope(request, context, body);
  const occurredAt = new Date();
  const events = requested.map(({ type, objectId, data = {}, requestId = requestIdOf(context) }) => {
    return { type, objectId, data, requestId, occurredAt };
  });
  const { merchantId } = scope;
  const { environment } = request;
  const timestamp = timestampFromDate(occurredAt);
  const unpublished = events.map(({ type, objectId, requestId }) => {
    return {
      $typeName: 'payments.webhooks.v1.Event' as const,
      merchantId,
      environment,
      type,
      objectId,
      requestId,
      timestamp,
    };
  });
  return { ...call, scope, events, unpublished };
}

/**
 * Publishes the events of a call in a transaction of their own.
 * @param responseOf the response that is recorded, of events without data: a replay has it in its request.
 */
function publishAlone<Output extends DescMessage>(
  writes: Writes,
  publication: Publication,
  responseOf: (events: Event[]) => MessageInitShape<Output>,
): Promise<MessageShape<Output>> {
  const { scope, context, request, requestWithoutData, events } = publication;
  return writes.run<Output>(
    request,
    context,
    async (tx) => responseOf(eventMessages(publication, await tx.publishAll(events))),
    // Events keep their data, so the many audit entries of services that publish them do not repeat it.
    { scope, audited: actorOf(context) ? request : requestWithoutData },
  );
}
