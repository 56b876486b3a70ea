import type { JsonObject } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { Event } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { OutboxEvent, PublishedEvent } from '../../platform/outbox/outbox.ts';
import { parseAll } from '../../platform/request-faults.ts';
import { requestIdOf } from '../../platform/rpc/call-context.ts';
import {
  type IdempotencyScope,
  idempotencyScope,
  type WriteRequest,
} from '../../platform/writes/idempotency-records.ts';
import { requireEventData, requireEventType } from './event-types/event-catalog.ts';

/** An event as a request names it. */
interface RequestedEvent {
  readonly type: string;
  readonly objectId: string;
  readonly data?: JsonObject;
  readonly requestId?: string;
}

/** A call that publishes events. */
interface PublishCall {
  readonly request: WriteRequest;
  /** What the audit trail keeps. */
  readonly requestWithoutData: WriteRequest;
  readonly context: HandlerContext;
}

/** The valid events of a call, to publish under its idempotency key: all of them, or none. */
export interface Publication extends PublishCall {
  readonly scope: IdempotencyScope;
  readonly events: readonly OutboxEvent[];
  /** The events as they are returned, without their data, in the same order. */
  readonly unnumbered: readonly Omit<Event, 'id' | 'sequence'>[];
}

/**
 * The events of a call. INVALID_ARGUMENT (INVALID_EVENT_TYPE, INVALID_EVENT_DATA).
 * @param fieldOf the path of a field of an event in the request.
 */
export function publicationOf(
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
  const unnumbered = events.map(({ type, objectId, requestId }) => {
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
  return { ...call, scope, events, unnumbered };
}

/** The events as they are returned, without their data. */
export const numbered = ({ unnumbered }: Publication, published: readonly PublishedEvent[]): Event[] =>
  unnumbered.map((event, place) => {
    const { id, sequence } = published[place]!;
    return { ...event, id, sequence };
  });
